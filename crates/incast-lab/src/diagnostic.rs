//! Compiler-style errors of a scenario.

use std::fmt;

use incast_model::echo::{self, Excerpt, visible, word};
use incast_model::field::FieldError;
use incast_model::nearest::hint;
use incast_model::renamed::renamed;

/// Part of a line, of a file or the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// File, or `--set`, `scenario`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Line's text.
    pub text: String,
    /// Marked characters from `column` on, at least 1.
    pub width: usize,
}

impl Place {
    /// Place of a byte range, up to its first line's end.
    pub fn of(file: &str, text: &str, range: std::ops::Range<usize>) -> Self {
        let start = floor_boundary(text, range.start);
        let end = floor_boundary(text, range.end.max(start));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let meant = &text[start..end.min(line_end)];
        Self {
            file: file.to_owned(),
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            text: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            width: meant.trim_end().chars().count().max(1),
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Error in a scenario, or a warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// Fault, with the bad value.
    pub message: String,
    /// Parameter (`workload[0].poisson.load`); empty: the whole scenario.
    pub path: String,
    /// Place; `None` if not read from text.
    pub place: Option<Box<Place>>,
    /// Allowed values, if not in the message.
    pub allowed: Option<String>,
    /// Valid name nearest to the wrong one.
    pub nearest: Option<String>,
}

impl Diagnostic {
    /// Diagnostic about a parameter.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), ..Self::default() }
    }

    /// Adds the allowed values.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds valid names and the nearest, or the new name of a renamed one.
    #[must_use]
    pub fn names<'a>(mut self, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        if let Some(now) = renamed(wrong, names.iter().copied()) {
            self.message = format!("`{wrong}` is now `{now}`");
            return self;
        }
        self.nearest = incast_model::nearest::nearest(wrong, names.iter().copied()).map(str::to_owned);
        self.allowed = Some(if names.is_empty() { "nothing here".to_owned() } else { names.join(", ") });
        self
    }

    /// Message, path and hints on one line.
    pub fn summary(&self) -> String {
        let mut line = String::new();
        if let Some(place) = &self.place {
            line = format!("{}:{}:{}: ", visible(&place.file), place.line, place.column);
        }
        if !self.path.is_empty() {
            line += &format!("{}: ", word(&self.path));
        }
        line += &echo::message(&self.message);
        if let Some(allowed) = &self.allowed {
            line += &format!(" (allowed: {})", echo::message(allowed));
        }
        line += &hint(&self.nearest.as_deref().map(word));
        line
    }

    /// Escapes and shortens names and values: no raw foreign text reaches a terminal.
    fn write(&self, heading: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, path) = (echo::message(&self.message), word(&self.path));
        match (&self.place, path.is_empty()) {
            (Some(_), _) | (None, true) => write!(f, "{heading}: {message}")?,
            (None, false) => write!(f, "{heading}: {path}: {message}")?,
        }
        let mut margin = 1;
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            margin = number.len() + 1;
            let path = if path.is_empty() { String::new() } else { format!(" ({path})") };
            let file = visible(&place.file);
            write!(f, "\n{:>margin$}--> {file}:{}:{}{path}", "", place.line, place.column)?;
            let Excerpt { line, indent, width } = Excerpt::new(&place.text, place.column, place.width);
            write!(f, "\n{:margin$}|\n{number} | {line}", "")?;
            write!(f, "\n{:margin$}| {indent}{}", "", "^".repeat(width))?;
        }
        if let Some(allowed) = &self.allowed {
            write!(f, "\n{:margin$}= allowed: {}", "", echo::message(allowed))?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "\n{:margin$}= did you mean `{}`?", "", word(nearest))?;
        }
        Ok(())
    }

    /// Displays under the heading `warning`.
    pub fn as_warning(&self) -> impl fmt::Display + '_ {
        struct Warning<'a>(&'a Diagnostic);
        impl fmt::Display for Warning<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write("warning", f)
            }
        }
        Warning(self)
    }
}

impl From<FieldError> for Diagnostic {
    fn from(error: FieldError) -> Self {
        let message = error.sentence();
        Self { message, path: error.field, place: None, allowed: error.allowed, nearest: error.nearest }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write("error", f)
    }
}

/// Errors found in a scenario; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// `Err` if anything was found.
    pub fn check(found: Vec<Diagnostic>) -> Result<(), Self> {
        if found.is_empty() { Ok(()) } else { Err(Self(found)) }
    }

    /// Appends other diagnostics.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others);
        self
    }

    /// Iterates over the diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Changes the diagnostics.
    #[must_use]
    pub(crate) fn map(self, f: impl FnOnce(Vec<Diagnostic>) -> Vec<Diagnostic>) -> Self {
        Self(f(self.0))
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Most diagnostics that are shown together (our choice).
const MOST: usize = 10;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.0.iter().take(MOST).enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            one.fmt(f)?;
        }
        match self.0.len().saturating_sub(MOST) {
            0 => Ok(()),
            1 => f.write_str("\n\nand 1 more error"),
            more => write!(f, "\n\nand {more} more errors"),
        }
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "seed = 1\n[switch]\n\tbufer = \"32MB\"\n";

    #[test]
    fn looks_like_a_compiler_error() {
        let at = TEXT.find("bufer").unwrap();
        let mut one = Diagnostic::new("switch.bufer", "unknown field `bufer`").names("bufer", ["buffer", "reserve"]);
        one.place = Some(Box::new(Place::of("s.toml", TEXT, at..at + 5)));
        assert_eq!(
            one.to_string(),
            "error: unknown field `bufer`\n  --> s.toml:3:2 (switch.bufer)\n  |\n3 | \tbufer = \"32MB\"\n  | \t^^^^^\n  \
             = allowed: buffer, reserve\n  = did you mean `buffer`?"
        );
        assert!(one.as_warning().to_string().starts_with("warning: unknown field"));
        assert_eq!(
            one.summary(),
            "s.toml:3:2: switch.bufer: unknown field `bufer` (allowed: buffer, reserve); did you mean `buffer`?"
        );
        one.place = None;
        assert!(one.to_string().starts_with("error: switch.bufer: unknown field `bufer`\n = allowed"));
    }

    #[test]
    fn only_the_first_of_many_have_a_place() {
        let text = format!(
            "[fabric.star]\nhosts = 4\n[switch]\nlossless = [{}]\n[[workload]]\nincast = {{ fan_in = 2, size = 1 }}\n[scheme.A]\ncontrol = \"hpcc\"\n",
            "3, ".repeat(1000)
        );
        let found = crate::scenario::Loaded::from_text("s", &text, std::path::Path::new("."), &[]).unwrap_err();
        assert_eq!(found.iter().filter(|one| one.place.is_some()).count(), 100);
        assert_eq!(found.iter().count(), 999);
    }

    #[test]
    fn the_first_of_many_are_shown() {
        let many = Diagnostics((0..12).map(|number| Diagnostic::new(format!("seed[{number}]"), "wrong")).collect());
        let said = many.to_string();
        assert!(
            said.contains("seed[9]") && !said.contains("seed[10]") && said.ends_with("\n\nand 2 more errors"),
            "{said}"
        );
    }

    #[test]
    fn foreign_text_is_shown_without_control_characters_and_cut() {
        let text = format!("rate = \"\u{1b}[2J{}\"", "x".repeat(1_000_000));
        let mut one =
            Diagnostic::new("rate", format!("`{}` is no rate\nerror: forged", &text[7..])).allowed("a\u{7}rate");
        one.place = Some(Box::new(Place::of("s\u{1b}.toml", &text, 7..text.len())));
        let said = one.to_string();
        assert!(said.len() < 2_000 && said.lines().all(|line| line.chars().count() < 400), "{}", said.len());
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said}");
        assert!(said.starts_with(r#"error: `"\u001b[2Jxxx"#) && said.contains(r"is no rate\nerror: forged"), "{said}");
        assert!(said.contains(r"--> s\u001b.toml:1:8 (rate)") && said.ends_with(r"= allowed: a\u0007rate"), "{said}");
        assert!(!one.summary().contains('\u{1b}') && one.summary().len() < 1_000);
    }

    #[test]
    fn places_stay_within_their_line() {
        let place = Place::of("x", "a = [\n1,\n]\n", 4..10);
        assert_eq!((place.line, place.column, place.width, place.text.as_str()), (1, 5, 1, "a = ["));
        let place = Place::of("x", "é = µ", 7..99);
        assert_eq!((place.line, place.column, place.width), (1, 6, 1));
        let place = Place::of("x", "", 5..9);
        assert_eq!((place.line, place.column, place.width, place.text.as_str()), (1, 1, 1, ""));
    }
}
