//! A scenario as TOML, with every default written out.

use serde_json::Value;

use super::Scenario;

impl Scenario {
    /// The scenario as TOML text with all defaults; reading it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        // Serialising plain data into memory cannot fail.
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(schemes) = value.get_mut("scheme").and_then(Value::as_object_mut) {
            for (name, scheme) in schemes {
                if let (Some(window), Some(scheme)) =
                    (self.scheme.get(name).map(|s| s.window()), scheme.as_object_mut())
                {
                    // The window that a control is meant to be used with is a default like any other.
                    let at = usize::from(scheme.contains_key("control"));
                    if !scheme.contains_key("window") {
                        scheme.shift_insert(at, "window".into(), serde_json::to_value(window).unwrap_or_default());
                    }
                }
            }
        }
        let table = toml_value(value);
        toml::to_string_pretty(&table).unwrap_or_default()
    }
}

/// JSON's values as TOML's; an absent value becomes "none".
fn toml_value(value: Value) -> toml::Value {
    match value {
        Value::Null => toml::Value::String("none".into()),
        Value::Bool(flag) => toml::Value::Boolean(flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => toml::Value::Integer(whole),
            (None, real) => toml::Value::Float(real.unwrap_or(f64::NAN)),
        },
        Value::String(text) => toml::Value::String(text),
        Value::Array(items) => toml::Value::Array(items.into_iter().map(toml_value).collect()),
        Value::Object(table) => {
            toml::Value::Table(table.into_iter().map(|(key, value)| (key, toml_value(value))).collect())
        }
    }
}
