use std::fmt;

use serde::{Deserialize, Serialize};

/// A warning to check before trusting results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Schemes concerned, in the scenario's order; none: the whole scenario.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Parameter (`network.load_balancing`), or label of flows.
    pub field: String,
    /// Place (`mine.toml:7`, `--set`); `None` for a default.
    #[serde(default)]
    pub line: Option<String>,
    /// Message without field, line and schemes.
    pub text: String,
}

impl Warning {
    /// Callers add place and schemes.
    pub(crate) fn new(field: impl Into<String>, text: String) -> Self {
        Self { schemes: Vec::new(), field: field.into(), line: None, text }
    }

    /// One line with schemes; `all`: the scenario's number of schemes.
    pub fn summary(&self, all: usize) -> String {
        match &self.schemes[..] {
            [] => self.to_string(),
            [one] => format!("{self} (scheme {one})"),
            names if names.len() == all => format!("{self} (all {all} schemes)"),
            names => format!("{self} (schemes {})", names.join(", ")),
        }
    }
}

/// Parameter and text value as TOML, in backticks.
pub(crate) fn setting(field: &str, value: impl fmt::Display) -> String {
    format!("`{field} = \"{value}\"`")
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some(line) => write!(f, "{} ({line}): {}", self.field, self.text),
            None => write!(f, "{}: {}", self.field, self.text),
        }
    }
}

pub(crate) fn joined<'a>(of_schemes: impl IntoIterator<Item = (&'a str, Warning)>) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for (scheme, warning) in of_schemes {
        let known = found.iter_mut().find(|known| (&known.field, &known.text) == (&warning.field, &warning.text));
        match known {
            Some(known) => known.schemes.push(scheme.to_owned()),
            None => found.push(Warning { schemes: vec![scheme.to_owned()], ..warning }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_warnings_of_schemes_are_one() {
        let warn = |text: &str| Warning::new("switch.buffer", text.into());
        let found = joined([("A", warn("small")), ("B", warn("large")), ("B", warn("small")), ("C", warn("small"))]);
        let lines: Vec<String> = found.iter().map(|one| one.summary(3)).collect();
        assert_eq!(lines, ["switch.buffer: small (all 3 schemes)", "switch.buffer: large (scheme B)"]);
        assert_eq!(found[0].summary(4), "switch.buffer: small (schemes A, B, C)");
        let placed = Warning { line: Some("mine.toml:7".into()), ..warn("small") };
        assert_eq!(placed.summary(3), "switch.buffer (mine.toml:7): small");
    }
}
