use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Tree;
use super::path::At;
use super::places::Places;
use crate::diagnostic::{Diagnostic, Place};

/// Limit of the TOML library.
const LEVELS: usize = 80;

impl Tree {
    pub(crate) fn of_toml(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let table = DeTable::parse(text).map_err(|error| syntax(name, text, &error))?;
        let places = Places::of_toml(name, text);
        let root = values(table.into_inner(), At::Root).map_err(|diagnostic| places.locate(diagnostic))?;
        Ok(Self { root, places })
    }
}

fn values(table: DeTable<'_>, at: At<'_>) -> Result<Map<String, Value>, Diagnostic> {
    let values = table.into_iter().map(|(key, value)| {
        let key = key.into_inner().into_owned();
        let value = plain(value, At::Key(&at, &key))?;
        Ok((key, value))
    });
    values.collect()
}

fn plain(value: Spanned<DeValue<'_>>, at: At<'_>) -> Result<Value, Diagnostic> {
    Ok(match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Integer(number) => {
            let text = number.as_str().replace('_', "");
            let parsed = i64::from_str_radix(&text, number.radix());
            let bad = |_| Diagnostic::new(at.path(), format!("`{text}` is too large a number"));
            Value::Number(parsed.map_err(bad)?.into())
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().replace('_', "").parse().ok().and_then(Number::from_f64);
            let bad = || Diagnostic::new(at.path(), format!("`{}` is not a finite number", number.as_str()));
            Value::Number(parsed.ok_or_else(bad)?)
        }
        DeValue::Datetime(date) => {
            return Err(Diagnostic::new(at.path(), format!("`{date}` is a date; a scenario has none")));
        }
        DeValue::Array(items) => {
            let items = items.into_iter().enumerate();
            Value::Array(items.map(|(index, item)| plain(item, At::Index(&at, index))).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Object(values(table, at)?),
    })
}

fn syntax(name: &str, text: &str, error: &toml::de::Error) -> Diagnostic {
    let too_deep = error.message().contains("recurs");
    let why = if too_deep {
        format!("tables and lists inside each other have more than {LEVELS} levels")
    } else {
        error.message().trim().to_owned()
    };
    let mut diagnostic = Diagnostic::new("", format!("not valid TOML: {why}"));
    let range = error.span().or_else(|| line_of_long_key(text)).unwrap_or(text.len()..text.len());
    diagnostic.place = Some(Box::new(Place::of(name, text, range)));
    diagnostic
}

/// The library gives no place for a key of too many parts.
fn line_of_long_key(text: &str) -> Option<std::ops::Range<usize>> {
    let mut lines = text.split_inclusive('\n').scan(0, |start, line| {
        let at = *start;
        *start += line.len();
        Some((at, line))
    });
    let (start, line) = lines.find(|(_, line)| line.matches('.').count() >= LEVELS - 1)?;
    Some(start..start + line.trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_places() {
        let text = "seed = 7\n[[workload]]\npoisson = { load = 0.3 }\n[scheme.\"a.b\"]\ncontrol = \"hpcc\"\n";
        let tree = Tree::of_toml("s.toml", text).unwrap();
        assert_eq!(tree.root["seed"], 7);
        let place = |path: &str| {
            let place = tree.locate(Diagnostic::new(path, "x")).place.unwrap();
            (place.line, place.column, place.width)
        };
        assert_eq!(place("seed"), (1, 8, 1));
        assert_eq!(place("workload[0].poisson.load"), (3, 20, 3));
        assert_eq!(place("workload[0].poisson.nothing"), (3, 1, 7));
        assert_eq!(place("scheme.\"a.b\".control"), (5, 11, 6));
        assert_eq!(place("measure.sample_every"), (1, 1, 1));
    }

    #[test]
    fn too_many_levels_are_located() {
        let key = vec!["a"; 200].join(".");
        for text in [format!("seed = 1\n{key} = 1\n"), format!("seed = 1\nx = {}\n", "[".repeat(200))] {
            let error = Tree::of_toml("s.toml", &text).unwrap_err();
            assert!(error.message.ends_with("have more than 80 levels"), "{error}");
            assert_eq!(error.place.unwrap().line, 2);
        }
    }

    #[test]
    fn broken_text_is_located() {
        let error = Tree::of_toml("s.toml", "seed = 1\nfabric = [\n").unwrap_err();
        assert!(error.message.starts_with("not valid TOML: "), "{error}");
        assert_eq!(error.place.unwrap().file, "s.toml");
        let error = Tree::of_toml("s.toml", "a = 1\na = 2\n").unwrap_err();
        assert_eq!(error.place.unwrap().line, 2, "{}", error.message);
        let error = Tree::of_toml("s.toml", "a = 1\nb = nan\n").unwrap_err();
        assert_eq!((error.message.as_str(), error.place.unwrap().line), ("`nan` is not a finite number", 2));
        assert!(Tree::of_toml("s.toml", "a = 1979-05-27").unwrap_err().message.contains("is a date"));
        assert!(Tree::of_toml("s.toml", "a = 99999999999999999999").unwrap_err().message.contains("too large"));
        assert_eq!(Tree::of_toml("s.toml", "a = 0xff").unwrap().root["a"], 255);
    }
}
