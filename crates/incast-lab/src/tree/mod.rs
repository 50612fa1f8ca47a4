//! Tree of plain values with places, which locate errors.
//!
//! TOML text, overrides and Python dictionaries become a tree; profiles fill it in; then it is read into types.

mod controls;
mod overrides;
pub(crate) mod path;
mod places;
mod strict;
mod toml_text;

pub(crate) use controls::{FILES, Layout};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use places::Places;

use crate::diagnostic::{Diagnostic, Place};

/// Values by name, with places of written ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) root: Map<String, Value>,
    places: Places,
}

impl Tree {
    pub(crate) fn of_value(root: Map<String, Value>) -> Self {
        Self { root, ..Self::default() }
    }

    /// Adds places to the first of many errors: each place has the text of its line, which may be the whole file.
    pub(crate) fn locate_all(&self, found: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        let place = |(number, one)| if number < MOST_PLACES { self.locate(one) } else { one };
        found.into_iter().enumerate().map(place).collect()
    }

    pub(crate) fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        self.places.locate(diagnostic)
    }

    pub(crate) fn place_of(&self, path: &str) -> Option<Place> {
        self.places.of_value(path)
    }

    /// Reads the values into a type; they are gone then, which saves their copy.
    pub(crate) fn take_typed<T: DeserializeOwned>(&mut self) -> Result<T, Diagnostic> {
        let root = Value::Object(std::mem::take(&mut self.root));
        typed(&root, "").map_err(|diagnostic| self.locate(diagnostic))
    }
}

pub(crate) fn typed<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, Diagnostic> {
    serde_path_to_error::deserialize(strict::Strict(value)).map_err(|error| {
        let (mut at, mut pointer) = (path.to_owned(), String::new());
        for segment in error.path() {
            use serde_path_to_error::Segment;
            let key = match segment {
                Segment::Seq { index } => {
                    at = path::index(&at, *index);
                    pointer += &format!("/{index}");
                    continue;
                }
                Segment::Map { key } => key,
                Segment::Enum { variant } => variant,
                Segment::Unknown => continue,
            };
            at = path::join(&at, key);
            pointer += &format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        }
        let message = error.inner().to_string();
        match value.pointer(&pointer) {
            Some(Value::Object(given)) if given.len() > 1 && message.contains(SINGLE_KEY) => {
                several::<T>(value, path, &pointer, &at, given.keys())
            }
            // Readers of several forms do not quote the value.
            Some(given @ (Value::Number(_) | Value::Bool(_))) if !message.contains('`') => {
                Diagnostic::new(at, format!("`{given}` where {message} is expected"))
            }
            _ => explain(at, &message),
        }
    })
}

/// Errors with a place (our choice); fewer are shown.
const MOST_PLACES: usize = 100;

const SINGLE_KEY: &str = "expected map with a single key";

const ONE_ALLOWED: &str = " are given where one is allowed";

fn several<'a, T: DeserializeOwned>(
    value: &Value,
    path: &str,
    pointer: &str,
    at: &str,
    given: impl Iterator<Item = &'a String> + Clone,
) -> Diagnostic {
    for name in given.clone() {
        let mut alone = value.clone();
        if let Some(Value::Object(table)) = alone.pointer_mut(pointer) {
            table.retain(|key, _| key == name);
        }
        let unknown = |found: &Diagnostic| found.path == at && found.message.starts_with("unknown name");
        if let Some(found) = typed::<T>(&alone, path).err().filter(unknown) {
            return found;
        }
    }
    let list = given.clone().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let last = given.last().map_or_else(String::new, |name| path::join(at, name));
    Diagnostic::new(last, format!("{list}{ONE_ALLOWED}"))
}

fn explain(path: String, message: &str) -> Diagnostic {
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    if let Some((what, expected)) = message.split_once(", expected ")
        && (message.starts_with("unknown field") || message.starts_with("unknown variant"))
    {
        let names = quoted(expected);
        let wrong = quoted(what).into_iter().next().unwrap_or_default();
        let what = what.replace("unknown variant", "unknown name");
        return Diagnostic::new(path, what).names(&wrong, names.iter().map(String::as_str));
    }
    if let Some((what, _)) = message.split_once(", there are no fields") {
        return Diagnostic::new(path, what).allowed("nothing here");
    }
    if message.contains(SINGLE_KEY) {
        return Diagnostic::new(path, "exactly one of the alternatives must be given here");
    }
    if let Some((found, expected)) =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
        && let Some(number) = expected.split(' ').find(|word| word.parse::<usize>().is_ok())
    {
        return Diagnostic::new(path, format!("a list of {found} where one of {number} is expected"));
    }
    let kinds = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = kinds.and_then(|rest| rest.split_once(", expected ")) {
        let form = form(&path, found, expected);
        let diagnostic =
            Diagnostic::new(path, format!("{} where {} is expected", plain_value(found), plain_kind(expected)));
        return form.into_iter().fold(diagnostic, Diagnostic::allowed);
    }
    Diagnostic::new(path, message)
}

/// How to write a list, a table of names, or a number.
fn form(path: &str, found: &str, expected: &str) -> Option<String> {
    match (found, expected) {
        (_, "f32" | "f64") => fraction(found),
        (_, "a sequence") if found != "map" => {
            Some(format!("a list, such as [{}]", plain_value(found).trim_matches('`')))
        }
        _ if path.is_empty() || path.contains('[') => None,
        ("map", "a sequence") => Some(format!("a list; in TOML, `[[{path}]]` begins each entry")),
        ("sequence", "a map") => Some(format!("tables with names; in TOML, `[{path}.NAME]` begins each")),
        _ => None,
    }
}

/// A number for one in quotes, or for a percentage.
fn fraction(found: &str) -> Option<String> {
    let text = found.strip_prefix("string ")?.trim_matches('"');
    match text.strip_suffix('%') {
        Some(percent) => {
            let number: f64 = percent.trim().parse().ok()?;
            // Rounded: 33.3 / 100 is not 0.333.
            Some(format!("a fraction, such as {}", (number * 1e10).round() / 1e12))
        }
        None => text.parse().is_ok_and(f64::is_finite).then(|| format!("{text}, without quotes")),
    }
}

fn plain_value(found: &str) -> &str {
    match found {
        "map" => "a table",
        "sequence" => "a list",
        "null" | "unit value" => "nothing",
        other => ["integer ", "floating point ", "string ", "boolean "]
            .iter()
            .find_map(|kind| other.strip_prefix(kind))
            .unwrap_or(other),
    }
}

fn plain_kind(expected: &str) -> &str {
    match expected {
        "a string" => "text",
        "a boolean" => "true or false",
        "u8" => "a whole number of 0 to 255",
        "u16" => "a whole number of 0 to 65535",
        "u32" => "a whole number of 0 to 4294967295",
        // TOML has no greater ones.
        "u64" | "usize" => "a whole number of 0 to 9223372036854775807",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "a table",
        other => match other.strip_prefix("struct ") {
            Some(_) => "a table",
            None => other,
        },
    }
}

pub(crate) fn fill(table: &mut Map<String, Value>, defaults: &Map<String, Value>) {
    for (key, value) in defaults {
        table.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

/// Inner keys only for `tables`.
pub(crate) fn overlaid(table: &Map<String, Value>, over: &Map<String, Value>, tables: &[&str]) -> Map<String, Value> {
    let mut merged = table.clone();
    for (key, value) in over {
        let value = match (table.get(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) if tables.contains(&key.as_str()) => {
                Value::Object(overlaid(below, above, &[]))
            }
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}
