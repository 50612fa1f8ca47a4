use serde_json::{Map, Value};

use super::{Scenario, Scheme, StandIns};

impl Scenario {
    /// TOML text with defaults; reads back as an equal scenario.
    pub fn to_toml(&self) -> String {
        self.toml_without(StandIns::default())
    }

    /// Same without stand-ins. Switch and ECN parameters of a stand-in scheme become the scenario's.
    pub(crate) fn toml_without(&self, stand_ins: StandIns) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(schemes) = value.get_mut("scheme").and_then(Value::as_object_mut) {
            for (name, written) in schemes {
                if let (Some(scheme), Some(written)) = (self.scheme.get(name), written.as_object_mut()) {
                    self.fill(scheme, written);
                }
            }
        }
        if let Value::Object(root) = &mut value {
            if stand_ins.workload {
                root.shift_remove("workload");
            }
            let scheme = if stand_ins.scheme { root.shift_remove("scheme") } else { None };
            let scheme = scheme.and_then(|schemes| schemes.as_object()?.values().next().cloned());
            if let Some(Value::Object(scheme)) = scheme {
                root.extend(scheme.into_iter().filter(|(section, _)| ["switch", "ecn"].contains(&section.as_str())));
            }
        }
        toml::to_string_pretty(&toml_value(value)).unwrap_or_default()
    }
}

impl Scenario {
    fn fill(&self, scheme: &Scheme, written: &mut Map<String, Value>) {
        if !written.contains_key("window")
            && let Some(window) = scheme.window()
        {
            let at = usize::from(written.contains_key("control"));
            written.shift_insert(at, "window".into(), serde_json::to_value(window).unwrap_or_default());
        }
        let mut fill = |section: &str, before: &[&str], whole: Value| {
            written.shift_remove(section);
            let at = written.keys().position(|key| before.contains(&key.as_str())).unwrap_or(written.len());
            written.shift_insert(at, section.into(), whole);
        };
        if let Ok(Ok(switch)) = self.switch(scheme, "").map(serde_json::to_value) {
            fill("switch", &["ecn", "packets", "host", "rdma"], switch);
        }
        if let Ok(Ok(ecn)) = self.ecn(scheme, "").map(serde_json::to_value) {
            fill("ecn", &["packets", "host", "rdma"], ecn);
        }
    }
}

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
