//! Rules as JSON of our own: every switch by name, its entries, ports by number.

use serde::{Deserialize, Serialize};

use super::RulesError;
use super::read::{Reader, error};
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

const FORMAT: &str = "incast-tag-rules";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    /// What hosts send with, and what no entry matches: for people.
    hosts_send_with: u8,
    no_match: String,
    switches: Vec<Switch>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    switch: String,
    rules: Vec<Entry>,
}

/// The entries of all switches as JSON: ports are numbered from 0 within their switch.
pub fn write_json(wiring: &Wiring<'_>, table: &RuleTable) -> String {
    let switches = table
        .switches()
        .map(|(switch, entries)| Switch { switch: wiring.name(switch).into(), rules: entries.to_vec() });
    let file = File {
        format: FORMAT.into(),
        version: VERSION,
        hosts_send_with: crate::tagging::Tag::FIRST.0,
        no_match: "lossy".into(),
        switches: switches.collect(),
    };
    serde_json::to_string(&file).expect("names and numbers are JSON") + "\n"
}

/// Reads what [`write_json`] writes.
///
/// # Errors
/// JSON that is none or not this, a switch or port that the fabric has not, entries that disagree; each with its place.
pub fn read_json(wiring: &Wiring<'_>, text: &str) -> Result<RuleTable, RulesError> {
    let file: File = serde_json::from_str(text).map_err(|wrong| {
        let place = format!("line {} column {}", wrong.line(), wrong.column());
        error(&place, wrong.to_string())
    })?;
    if (file.format.as_str(), file.version) != (FORMAT, VERSION) {
        let given = format!("`{}` version {}; allowed: `{FORMAT}` version {VERSION}", file.format, file.version);
        return Err(error("format", given));
    }
    let mut reader = Reader::new(wiring);
    for (at, Switch { switch, rules }) in file.switches.into_iter().enumerate() {
        let node = reader.switch(&format!("switches[{at}].switch"), &switch)?;
        for (rule, entry) in rules.into_iter().enumerate() {
            reader.add(node, entry, |field| format!("switches[{at}].rules[{rule}].{field}"))?;
        }
    }
    reader.finish()
}
