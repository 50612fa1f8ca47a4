//! Sources of buffer and ECN parameters.

use std::fmt;

use incast_sim::switch::{EcnParams, SwitchParams};
use serde::Serialize;
use serde_json::Value;

use crate::scenario::{Prepared, PreparedScheme, Scheme, value};
use crate::tree::path;

/// A parameter's value and source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Field, such as `switch.headroom`.
    pub field: String,
    /// Value as in a scenario.
    pub value: Value,
    /// `default`, `default of dctcp`, `profile`, or file and line.
    pub source: String,
}

const SWITCH: [&str; 9] =
    ["buffer", "cell", "reserve", "lossless", "pfc", "pfc_mode", "resume_offset", "headroom", "by_rate"];
const ECN: [&str; 6] = ["enabled", "kmin", "kmax", "pmax", "per_rate", "by_rate"];

pub(super) fn settings(prepared: &Prepared, scheme: &PreparedScheme) -> Vec<Setting> {
    let params = &scheme.setup.params;
    let Some(own) = prepared.scenario.scheme.get(&scheme.name) else { return Vec::new() };
    let find = Find { prepared, name: &scheme.name, scheme: own };
    let (switch, ecn) = (value(&params.switch), value(&params.ecn));
    let standard = (value(SwitchParams::default()), value(EcnParams::default()));
    let of = |section: &'static str, keys: &'static [&'static str], whole: &Value, standard: &Value| {
        let setting = |key: &&str| {
            let found = whole.get(*key)?.clone();
            let source = find.source(section, key, Some(&found) == standard.get(*key));
            Some(Setting { field: format!("{section}.{key}"), value: found, source })
        };
        keys.iter().filter_map(setting).collect::<Vec<_>>()
    };
    let mut found = of("switch", &SWITCH, &switch, &standard.0);
    found.extend(of("ecn", &ECN, &ecn, &standard.1));
    found
}

struct Find<'a> {
    prepared: &'a Prepared,
    name: &'a str,
    scheme: &'a Scheme,
}

impl Find<'_> {
    /// Most specific first. `standard`: the value is the general default.
    fn source(&self, section: &str, key: &str, standard: bool) -> String {
        let scenario = &self.prepared.scenario;
        let (own, all) = match section {
            "switch" => (self.scheme.switch.given(), scenario.switch.given()),
            _ => (self.scheme.ecn.given(), scenario.ecn.given()),
        };
        let of_scheme = path::join(&path::join(&path::join("scheme", self.name), section), key);
        let given = &self.prepared.given;
        let no_place = if given.written(&["profile"]).is_some() { "profile" } else { "Python" };
        let place = |path: &str| given.place(path).unwrap_or_else(|| no_place.into());
        if own.contains_key(key) {
            place(&of_scheme)
        } else if all.contains_key(key) {
            place(&format!("{section}.{key}"))
        } else if standard {
            "default".into()
        } else {
            format!("default of {}", self.scheme.carrier())
        }
    }
}

/// Writes parameters that are no defaults, then names those that are.
pub(super) fn write(f: &mut fmt::Formatter<'_>, settings: &[Setting]) -> fmt::Result {
    let (standard, others): (Vec<_>, Vec<_>) = settings.iter().partition(|one| one.source == "default");
    let written = |one: &&Setting| format!("{} = {} ({})", one.field, inline(&one.value), one.source);
    let others = others.iter().map(written);
    let standard = standard.iter().map(|one| format!("{} = {}", one.field, inline(&one.value)));
    wrapped(f, "given:", others)?;
    wrapped(f, "default:", standard)
}

/// As in TOML.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let fields: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// Width of lines.
const COLUMNS: usize = 100;

fn wrapped(f: &mut fmt::Formatter<'_>, label: &str, items: impl Iterator<Item = String>) -> fmt::Result {
    let mut line = String::new();
    for item in items {
        if line.is_empty() {
            line = format!("           {label} {item}");
        } else if line.chars().count() + 2 + item.chars().count() < COLUMNS {
            line += &format!(", {item}");
        } else {
            write!(f, "\n{line},")?;
            line = format!("             {item}");
        }
    }
    if line.is_empty() { Ok(()) } else { write!(f, "\n{line}") }
}
