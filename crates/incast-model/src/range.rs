//! Ranges of parameters, declared at their fields: `#[schemars(transform = above(0).most(1))]`. Check and reference read the
//! schema.

use std::any::TypeId;
use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Mutex, PoisonError};

use schemars::transform::Transform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::field::{FieldError, join};
use crate::units::{Bytes, Rate, Time};

/// Keyword of a range in a schema. Bounds have JSON schema's names; quantities such as `1kB` are allowed.
pub const KEYWORD: &str = "x-range";

/// Allowed values of a parameter or a list's elements.
#[derive(Debug, Clone, Default)]
pub struct Range {
    low: Option<Bound>,
    high: Option<Bound>,
    name: &'static str,
    note: &'static str,
    none: bool,
}

#[derive(Debug, Clone)]
struct Bound {
    value: Value,
    /// The bound itself is out of range.
    open: bool,
}

/// Values of at least a bound.
pub fn least(bound: impl Into<Value>) -> Range {
    Range { low: Some(Bound { value: bound.into(), open: false }), ..Range::default() }
}

/// Values above a bound.
pub fn above(bound: impl Into<Value>) -> Range {
    Range { low: Some(Bound { value: bound.into(), open: true }), ..Range::default() }
}

/// Values up to a bound.
pub fn most(bound: impl Into<Value>) -> Range {
    Range::default().most(bound)
}

/// Light travels around the Earth seven times.
pub(crate) const MAX_DELAY: Time = Time::ms(1000);

/// Propagation delays.
pub fn delay() -> Range {
    most(MAX_DELAY.to_string())
}

/// Traffic classes of data.
pub fn priority() -> Range {
    least(1).most(7).named("a priority").note("0 carries PFC frames")
}

impl Range {
    /// Adds an upper bound.
    #[must_use]
    pub fn most(self, bound: impl Into<Value>) -> Self {
        Self { high: Some(Bound { value: bound.into(), open: false }), ..self }
    }

    /// Adds an upper bound that is out of range.
    #[must_use]
    pub fn below(self, bound: impl Into<Value>) -> Self {
        Self { high: Some(Bound { value: bound.into(), open: true }), ..self }
    }

    /// Names the values in messages.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Adds a remark to messages.
    #[must_use]
    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Mentions `"none"` in messages.
    #[must_use]
    pub const fn or_none(mut self) -> Self {
        self.none = true;
        self
    }

    fn allowed(&self) -> String {
        let upper = |high: &Bound| format!("{} {high}", if high.open { "below" } else { "at most" });
        let range = match (&self.low, &self.high) {
            (Some(low), Some(high)) if low.open => format!("above {low}, {}", upper(high)),
            (Some(low), Some(high)) if high.open => format!("{low} or more, {}", upper(high)),
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) if low.open => format!("more than {low}"),
            (Some(low), None) => format!("{low} or more"),
            (None, high) => high.as_ref().map(upper).unwrap_or_default(),
        };
        let name = if self.name.is_empty() { String::new() } else { format!("{}, ", self.name) };
        let note = if self.note.is_empty() { String::new() } else { format!(" ({})", self.note) };
        format!("{name}{range}{note}{}", if self.none { ", or \"none\"" } else { "" })
    }
}

impl Transform for Range {
    fn transform(&mut self, schema: &mut Schema) {
        let low = self.low.as_ref().map(|low| (if low.open { "exclusiveMinimum" } else { "minimum" }, low));
        let high = self.high.as_ref().map(|high| (if high.open { "exclusiveMaximum" } else { "maximum" }, high));
        let bounds = low.into_iter().chain(high).map(|(keyword, bound)| (keyword.to_owned(), bound.value.clone()));
        let mut range: Map<String, Value> = bounds.collect();
        let kinds = schema.get("type").map(Value::to_string).unwrap_or_default();
        if kinds.contains("\"integer\"") || kinds.contains("\"number\"") {
            range.iter().for_each(|(keyword, bound)| drop(schema.insert(keyword.clone(), bound.clone())));
        }
        range.insert("allowed".into(), self.allowed().into());
        schema.insert(KEYWORD.into(), range.into());
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.value, self.value.as_f64()) {
            (Value::String(quantity), _) => f.write_str(quantity),
            (Value::Number(number), Some(float)) if number.is_f64() && float >= 1e6 => write!(f, "{float:e}"),
            (value, _) => f.write_str(&spelt(value)),
        }
    }
}

/// Keywords of bounds, with the orders of values outside.
const BOUNDS: [(&str, &[Ordering]); 4] = [
    ("minimum", &[Less]),
    ("exclusiveMinimum", &[Less, Equal]),
    ("maximum", &[Greater]),
    ("exclusiveMaximum", &[Greater, Equal]),
];

/// All parameters out of range.
pub fn faults<T: JsonSchema + Serialize + 'static>(params: &T) -> Vec<FieldError> {
    let schema = schema_of::<T>();
    let value = serde_json::to_value(params).expect("parameters are plain values");
    let mut walk = Walk { definitions: &schema["$defs"], found: Vec::new() };
    walk.visit(schema, &value, "");
    walk.found
}

/// Made once: a schema takes longer than a check.
fn schema_of<T: JsonSchema + 'static>() -> &'static Value {
    static SCHEMAS: Mutex<BTreeMap<TypeId, &'static Value>> = Mutex::new(BTreeMap::new());
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::new(schemars::schema_for!(T).to_value())))
}

/// First parameter out of range.
pub fn check<T: JsonSchema + Serialize + 'static>(params: &T) -> Result<(), FieldError> {
    faults(params).into_iter().next().map_or(Ok(()), Err)
}

struct Walk<'a> {
    definitions: &'a Value,
    found: Vec<FieldError>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, schema: &'a Value, value: &Value, path: &str) {
        if schema.get(KEYWORD).is_some() {
            self.compare(schema, value, path);
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            self.visit(&self.definitions[name], value, path);
        }
        for choice in ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten() {
            self.visit(choice, value, path);
        }
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let own = schema["properties"].get(name);
                    self.visit(own.unwrap_or(&schema["additionalProperties"]), field, &join(path, name));
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.visit(&schema["items"], element, &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, schema: &Value, value: &Value, path: &str) {
        if let Value::Array(elements) = value {
            let elements = elements.iter().enumerate();
            return elements.for_each(|(index, one)| self.compare(schema, one, &format!("{path}[{index}]")));
        }
        let range = &schema[KEYWORD];
        let outside = |&(keyword, wrong): &(&str, &[Ordering])| {
            order(value, &range[keyword]).is_some_and(|order| wrong.contains(&order))
        };
        // NaN is null in JSON.
        if BOUNDS.iter().any(outside) || value.is_null() && schema["type"] == "number" {
            let allowed = range["allowed"].as_str().unwrap_or_default();
            let of_bytes = BOUNDS.iter().any(|(keyword, _)| range[*keyword].is_string());
            let value = match value.as_u64() {
                Some(bytes) if of_bytes => Bytes(bytes).to_string(),
                _ => spelt(value),
            };
            self.found.push(FieldError::range(path, value, allowed));
        }
    }
}

/// `None` without a bound or between kinds.
fn order(value: &Value, bound: &Value) -> Option<Ordering> {
    match (value, bound) {
        (Value::String(value), Value::String(bound)) => Some(quantity(value)?.0.cmp(&quantity(bound)?.0)),
        (Value::Number(bytes), Value::String(bound)) => Some(bytes.as_u64()?.cmp(&quantity(bound)?.0)),
        _ => match (value.as_u64(), bound.as_u64()) {
            (Some(value), Some(bound)) => Some(value.cmp(&bound)),
            _ => value.as_f64()?.partial_cmp(&bound.as_f64()?),
        },
    }
}

/// In its smallest unit, and its usual spelling.
fn quantity(text: &str) -> Option<(u64, String)> {
    let time = text.parse::<Time>().map(|time| (time.0, time.to_string()));
    let rate = || text.parse::<Rate>().map(|rate| (rate.0, rate.to_string()));
    let bytes = || text.parse::<Bytes>().map(|bytes| (bytes.0, bytes.to_string()));
    time.or_else(|_| rate()).or_else(|_| bytes()).ok()
}

fn spelt(value: &Value) -> String {
    match value {
        Value::Null => "NaN".into(),
        Value::String(text) => quantity(text).map_or_else(|| text.clone(), |(_, text)| text),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Params {
        #[schemars(transform = above(0).most(1))]
        share: f64,
        #[schemars(transform = least("1B").most("4096B"))]
        size: Bytes,
        #[schemars(transform = above("0s").or_none())]
        every: Option<Time>,
        #[schemars(transform = priority())]
        lossless: Vec<u8>,
        inner: Vec<Choice>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Choice {
        Plain,
        Limited {
            #[schemars(transform = least(1).below(1e6))]
            limit: f64,
        },
    }

    fn params() -> Params {
        Params { share: 0.5, size: Bytes(1), every: None, lossless: vec![1, 7], inner: vec![Choice::Plain] }
    }

    fn said(change: impl Fn(&mut Params)) -> Vec<String> {
        let mut params = params();
        change(&mut params);
        faults(&params).iter().map(FieldError::to_string).collect()
    }

    #[test]
    fn values_out_of_range_are_found_wherever_they_are() {
        assert_eq!(check(&params()), Ok(()));
        assert_eq!(said(|one| one.share = 0.0), ["share = 0: must be above 0, at most 1"]);
        assert_eq!(said(|one| one.share = f64::NAN), ["share = NaN: must be above 0, at most 1"]);
        assert_eq!(said(|one| one.size = Bytes(8192)), ["size = 8KiB: must be 1B to 4096B"]);
        assert_eq!(said(|one| one.every = Some(Time::ZERO)), ["every = 0ps: must be more than 0s, or \"none\""]);
        let priority = "lossless[1] = 8: must be a priority, 1 to 7 (0 carries PFC frames)";
        assert_eq!(said(|one| one.lossless[1] = 8), [priority]);
        let limit = "inner[1].limited.limit = 1000000: must be 1 or more, below 1e6";
        assert_eq!(said(|one| one.inner.push(Choice::Limited { limit: 1e6 })), [limit]);
    }

    #[test]
    fn numbers_have_the_bounds_of_json_schema_too() {
        let schema = schemars::schema_for!(Params).to_value();
        let share = &schema["properties"]["share"];
        assert_eq!((&share["exclusiveMinimum"], &share["maximum"]), (&Value::from(0), &Value::from(1)));
        assert_eq!(schema["properties"]["size"][KEYWORD]["maximum"], "4096B");
        assert_eq!(schema["properties"]["size"]["maximum"], Value::Null);
    }
}
