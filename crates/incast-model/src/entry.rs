//! Errors of `[[workload]]` and `[[tenant]]` entries and their files.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::echo::{LONGEST_NAME, is_control};
use crate::field::FieldError;
use crate::foreign::Ns3Error;
use crate::nearest::{hint, nearest};

/// Error of an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// Invalid field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Invalid value in a file.
    #[error("{}:{line}:{column}: `{value}`: must be {allowed}{}", .file.display(), hint(.nearest))]
    File {
        /// File.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Invalid value.
        value: String,
        /// Allowed values.
        allowed: String,
        /// Nearest valid name.
        nearest: Option<String>,
    },
    /// Invalid ns-3 flow file.
    #[error("{field}: {source}")]
    Ns3 {
        /// Field that names the file.
        field: String,
        /// Error in the file.
        source: Box<Ns3Error>,
    },
}

impl EntryError {
    pub(crate) fn field(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        FieldError::value(field, value, allowed).into()
    }

    /// Several of the allowed names are given together, or none.
    pub(crate) fn choice(field: &str, given: &[&str], allowed: impl Into<String>) -> Self {
        let names: Vec<String> = given.iter().map(|name| format!("`{name}`")).collect();
        let message = match names.is_empty() {
            true => "none is given".into(),
            false => format!("{} are given where one is allowed", names.join(" and ")),
        };
        FieldError::new(field, message).allowed(allowed).into()
    }

    pub(crate) fn unreadable(field: impl Into<String>, file: &Path, why: impl Display) -> Self {
        FieldError::new(field, format!("cannot read {}: {why}", file.display())).into()
    }

    pub(crate) fn file(place: &Place<'_>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self::File {
            file: place.file.into(),
            line: place.line,
            column: place.column,
            value: value.to_string(),
            allowed: allowed.into(),
            nearest: None,
        }
    }

    pub(crate) fn within(mut self, tenant: Option<&str>) -> Self {
        if let (
            Self::Field(FieldError { value: Some(_), allowed: Some(allowed), .. }) | Self::File { allowed, .. },
            Some(tenant),
        ) = (&mut self, tenant)
            && !allowed.contains("of tenant ")
        {
            *allowed += &format!(" (in tenant {tenant})");
        }
        self
    }

    pub(crate) fn near<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        match self {
            Self::Field(error) => Self::Field(error.near(names)),
            Self::File { file, line, column, value, allowed, .. } => {
                let nearest = nearest(&value, names).map(str::to_owned);
                Self::File { file, line, column, value, allowed, nearest }
            }
            other => other,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a Path,
    pub(crate) line: usize,
    /// In characters.
    pub(crate) column: usize,
}

/// CSV needs no quotes.
pub(crate) fn is_label(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.chars().count())
        && name != ALL
        && name == name.trim()
        && !name.contains(|c: char| is_control(c) || c == ',' || c == '"')
}

pub(crate) const LABEL_RULE: &str = "a name of at most 200 characters without commas, quotes, control characters, or blanks at \
    its ends, and not `all`, which means all labels in results";

/// All labels in results.
const ALL: &str = "all";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_as_long_as_their_rule_says() {
        assert!(LABEL_RULE.contains(&format!("at most {LONGEST_NAME} characters")));
        let [longest, longer] = [0, 1].map(|more| is_label(&"a".repeat(LONGEST_NAME + more)));
        assert!(longest && !longer);
        assert!(
            !is_label("") && !is_label(" a") && !is_label(ALL) && is_label("all_to_all") && !is_label("a\u{200b}b")
        );
    }

    #[test]
    fn messages_name_the_place_in_a_file() {
        let place = Place { file: Path::new("t.csv"), line: 3, column: 7 };
        let error = EntryError::file(&place, "scr", "a column").near(["src", "dst"]);
        assert_eq!(error.to_string(), "t.csv:3:7: `scr`: must be a column; did you mean `src`?");
    }
}
