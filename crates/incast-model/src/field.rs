//! The error of every check: field, value, allowed values.

use std::fmt::{self, Display};

use crate::nearest::{hint, nearest};

/// Refused value of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FieldError {
    /// Path, such as `workload[1].poisson.load`; entries count from 0.
    pub field: String,
    /// Refused value; `None` if the message names it.
    pub value: Option<String>,
    /// Fault: a sentence, or its predicate if there is a value.
    pub message: String,
    /// Allowed values, if not in the message.
    pub allowed: Option<String>,
    /// Nearest valid name.
    pub nearest: Option<String>,
}

impl FieldError {
    /// Fault without a single value.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), value: None, message: message.into(), allowed: None, nearest: None }
    }

    /// Value that is not possible here.
    pub fn value(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self { value: Some(value.to_string()), ..Self::new(field, "is not possible here").allowed(allowed) }
    }

    /// Value out of range.
    pub fn range(field: impl Into<String>, value: impl Display, allowed: impl Into<String>) -> Self {
        Self { message: "is out of range".into(), ..Self::value(field, value, allowed) }
    }

    /// Returns [`FieldError::range`] unless `holds`.
    pub fn unless(holds: bool, field: &str, value: impl Display, allowed: &str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::range(field, value, allowed)) }
    }

    /// Adds the allowed values.
    #[must_use]
    pub fn allowed(self, allowed: impl Into<String>) -> Self {
        Self { allowed: Some(allowed.into()), ..self }
    }

    /// Adds the valid name nearest to the value.
    #[must_use]
    pub fn near<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let nearest = self.value.as_deref().and_then(|value| nearest(value, names)).map(str::to_owned);
        Self { nearest, ..self }
    }

    /// Prefixes the field with the path of its table.
    #[must_use]
    pub fn within(self, path: impl Display) -> Self {
        let field = if self.field.is_empty() { path.to_string() } else { format!("{path}.{}", self.field) };
        Self { field, ..self }
    }

    /// Fault as a sentence, with the value.
    pub fn sentence(&self) -> String {
        match &self.value {
            Some(value) => format!("`{value}` {}", self.message),
            None => self.message.clone(),
        }
    }
}

/// Appends a key to a path, quoted if not a bare word.
pub fn join(path: &str, key: &str) -> String {
    let bare =
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-+ ".contains(c)) && !key.starts_with(' ');
    match (path.is_empty(), bare) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{key:?}"),
        (false, true) => format!("{path}.{key}"),
        (false, false) => format!("{path}.{key:?}"),
    }
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, &self.allowed) {
            (Some(value), Some(allowed)) => write!(f, "{} = {value}: must be {allowed}", self.field)?,
            (None, Some(allowed)) => write!(f, "{}: {} (allowed: {allowed})", self.field, self.message)?,
            (_, None) => write!(f, "{}: {}", self.field, self.sentence())?,
        }
        f.write_str(&hint(&self.nearest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_field_value_and_allowed_values() {
        let error = FieldError::value("load", -0.5, "more than 0").within("workload[1].poisson");
        assert_eq!(error.to_string(), "workload[1].poisson.load = -0.5: must be more than 0");
        assert_eq!(error.sentence(), "`-0.5` is not possible here");
        let error = FieldError::range("at", "leav0", "a switch").near(["leaf0", "spine0"]);
        assert_eq!(error.to_string(), "at = leav0: must be a switch; did you mean `leaf0`?");
        assert_eq!(error.sentence(), "`leav0` is out of range");
        let error = FieldError::new("network.pause", "there is no PFC");
        assert_eq!(error.to_string(), "network.pause: there is no PFC");
        assert_eq!(error.allowed("none").to_string(), "network.pause: there is no PFC (allowed: none)");
    }
}
