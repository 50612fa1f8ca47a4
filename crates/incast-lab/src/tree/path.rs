//! Paths of values: `workload[0].poisson.load`.

use std::fmt::Write;

pub(crate) use incast_model::field::join;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// Path of a value below others, written out only for an error: a file may have millions of values.
#[derive(Debug, Clone, Copy)]
pub(super) enum At<'a> {
    Root,
    Key(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl At<'_> {
    pub(super) fn path(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(above, key) => join(&above.path(), key),
            Self::Index(above, at) => index(&above.path(), *at),
        }
    }
}

pub(crate) fn index(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

pub(crate) fn print(steps: &[Step]) -> String {
    steps.iter().fold(String::new(), |path, step| match step {
        Step::Key(key) => join(&path, key),
        Step::Index(at) => index(&path, *at),
    })
}

pub(crate) fn parent(path: &str) -> Option<String> {
    let mut steps = parse(path).ok()?;
    steps.pop()?;
    Some(print(&steps))
}

pub(crate) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (number, after) = inner.split_once(']').ok_or("a `[` is not closed")?;
            let at = number.trim().parse().map_err(|_| format!("`[{number}]` is not an index such as [0]"))?;
            steps.push(Step::Index(at));
            rest = after;
        } else if let Some(inner) = rest.strip_prefix('"') {
            let (key, after) = quoted(inner)?;
            steps.push(Step::Key(key));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let key = rest[..end].trim();
            if key.is_empty() {
                return Err("a name is missing between two dots".into());
            }
            steps.push(Step::Key(key.to_owned()));
            rest = &rest[end..];
        }
        match rest.strip_prefix('.') {
            Some("") => return Err("it ends in a dot".into()),
            Some(after) => rest = after,
            None if rest.is_empty() || rest.starts_with('[') => {}
            None => return Err(format!("`{rest}` follows a quoted name or an index without a dot")),
        }
    }
    Ok(steps)
}

fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((key, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, c)) => key.write_char(c).map_err(|error| error.to_string())?,
                None => break,
            },
            c => key.push(c),
        }
    }
    Err("a quote is not closed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for path in
            ["", "seed", "workload[0].poisson.load", "scheme.DCQCN+w.control", "scheme.\"a.b\".window", "a[1][2].b"]
        {
            assert_eq!(print(&parse(path).unwrap()), path);
        }
        assert_eq!(parse("a[1].b").unwrap(), [Step::Key("a".into()), Step::Index(1), Step::Key("b".into())]);
        assert_eq!(parent("a[1].b").as_deref(), Some("a[1]"));
        assert_eq!(parent("a").as_deref(), Some(""));
        assert_eq!(parent(""), None);
    }

    #[test]
    fn says_what_is_wrong() {
        for (path, why) in [
            ("a.", "ends in a dot"),
            ("a..b", "missing between two dots"),
            ("a[x]", "`[x]` is not an index"),
            ("a[0", "not closed"),
            ("\"a", "quote is not closed"),
            ("a[0]b", "without a dot"),
        ] {
            assert!(parse(path).unwrap_err().contains(why), "{path}");
        }
    }
}
