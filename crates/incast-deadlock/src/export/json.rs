use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::read::{Reader, error};
use super::{MOST_TAGS, RulesError};
use crate::rules::{Entry, RuleTable};
use crate::wiring::Wiring;

const FORMAT: &str = "incast-tag-rules";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    /// Tags by class.
    #[serde(deserialize_with = "sent")]
    hosts_send_with: Vec<u8>,
    no_match: NoMatch,
    switches: Vec<Switch>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NoMatch {
    Lossy,
}

/// Tags 1 to n; `1` is `[1]`.
fn sent<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let given = Value::deserialize(from)?;
    let tags = given.as_array().map_or(std::slice::from_ref(&given), Vec::as_slice);
    let from_one = tags.iter().zip(1u64..).all(|(tag, number)| tag.as_u64() == Some(number));
    if !from_one || !(1..=usize::from(MOST_TAGS)).contains(&tags.len()) {
        let allowed = "allowed: tags from 1 on, one for each class of traffic, such as [1] or [1, 2]; at most 7";
        return Err(D::Error::custom(format!("hosts_send_with: {given}; {allowed}")));
    }
    Ok((1..=tags.len() as u8).collect())
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    switch: String,
    rules: Vec<Entry>,
}

/// Writes JSON in our own format; ports start at 0 per switch.
pub fn write_json(wiring: &Wiring<'_>, table: &RuleTable) -> String {
    let switches = table
        .switches()
        .map(|(switch, entries)| Switch { switch: wiring.name(switch).into(), rules: entries.to_vec() });
    let file = File {
        format: FORMAT.into(),
        version: VERSION,
        hosts_send_with: (1..=table.classes()).collect(),
        no_match: NoMatch::Lossy,
        switches: switches.collect(),
    };
    serde_json::to_string(&file).expect("names and numbers are JSON") + "\n"
}

/// Reads [`write_json`]'s format.
///
/// # Errors
/// Invalid JSON or an invalid entry, with its place.
pub fn read_json(wiring: &Wiring<'_>, text: &str) -> Result<RuleTable, RulesError> {
    if !text.trim_start().starts_with('{') {
        return Err(error("line 1 column 1", "not a JSON object"));
    }
    let file: File = serde_json::from_str(text).map_err(|wrong| {
        let (place, what) = (format!("line {} column {}", wrong.line(), wrong.column()), wrong.to_string());
        error(&place, what.strip_suffix(&format!(" at {place}")).unwrap_or(&what))
    })?;
    if (file.format.as_str(), file.version) != (FORMAT, VERSION) {
        let given = format!("`{}` version {}; allowed: `{FORMAT}` version {VERSION}", file.format, file.version);
        return Err(error("format", given));
    }
    let classes = file.hosts_send_with.len() as u8;
    let mut reader = Reader::new(wiring);
    for (at, Switch { switch, rules }) in file.switches.into_iter().enumerate() {
        let node = reader.switch(&format!("switches[{at}].switch"), &switch)?;
        for (rule, entry) in rules.into_iter().enumerate() {
            reader.add(node, entry, |field| format!("switches[{at}].rules[{rule}].{field}"))?;
        }
    }
    Ok(reader.finish()?.with_classes(classes))
}
