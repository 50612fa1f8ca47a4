//! One entry of a scenario's workload: common fields and exactly one pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::Pattern;
use super::error::WorkloadError;
use super::incast::Incast;
use super::list::ListedFlow;
use super::ns3::Ns3;
use super::permutation::Permutation;
use super::poisson::Poisson;
use super::trace::Trace;
use crate::units::Time;

/// An entry of the workload: exactly one pattern, and what its flows have in common.
///
/// Patterns are fields of their own rather than variants of a flattened enum, which would lose the place of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    /// Name of its flows in results. Default: the pattern's name. Entries may share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// When the pattern begins. Default 0.
    #[serde(default)]
    pub start: Time,
    /// No flow of the pattern starts at or after this time. Default none. Not for patterns whose flows wait for others:
    /// those end by their number of iterations or requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Time>,
    /// Traffic class of its data packets, 0 to 7. Default 3, the lossless class of the HPCC evaluation.
    #[serde(default = "default_priority")]
    pub priority: u8,
    /// Open-loop Poisson flows between random hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<Poisson>,
    /// Many hosts to one, at the same instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incast: Option<Incast>,
    /// Every host to one other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permutation: Option<Permutation>,
    /// Flows as listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<ListedFlow>>,
    /// Flows of a CSV file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Flows of an ns-3 flow file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns3: Option<Ns3>,
}

const fn default_priority() -> u8 {
    3
}

impl Default for WorkloadSpec {
    /// No pattern yet.
    fn default() -> Self {
        Self {
            tag: None,
            start: Time::ZERO,
            end: None,
            priority: default_priority(),
            poisson: None,
            incast: None,
            permutation: None,
            list: None,
            trace: None,
            ns3: None,
        }
    }
}

impl WorkloadSpec {
    /// The name in results: the tag, or the pattern's name.
    pub fn name(&self) -> Option<&str> {
        self.tag.as_deref().or_else(|| self.given().next().map(|(name, _)| name))
    }

    /// All patterns with what is set for each. The one list to extend with a new pattern.
    pub(super) fn patterns(&self) -> [(&'static str, Option<&dyn Pattern>); 6] {
        [
            ("poisson", self.poisson.as_ref().map(|p| p as &dyn Pattern)),
            ("incast", self.incast.as_ref().map(|p| p as &dyn Pattern)),
            ("permutation", self.permutation.as_ref().map(|p| p as &dyn Pattern)),
            ("list", self.list.as_ref().map(|p| p as &dyn Pattern)),
            ("trace", self.trace.as_ref().map(|p| p as &dyn Pattern)),
            ("ns3", self.ns3.as_ref().map(|p| p as &dyn Pattern)),
        ]
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &dyn Pattern)> {
        self.patterns().into_iter().filter_map(|(name, pattern)| Some((name, pattern?)))
    }

    /// The one pattern of entry `path`, with its name.
    pub(super) fn pattern(&self, path: &str) -> Result<(&'static str, &dyn Pattern), WorkloadError> {
        let given: Vec<_> = self.given().collect();
        if let [one] = given[..] {
            return Ok(one);
        }
        let names = |names: Vec<&str>, end: &str| names.join(end);
        let found = match given.len() {
            0 => "no pattern".into(),
            _ => names(given.iter().map(|(name, _)| *name).collect(), " and "),
        };
        let all = names(self.patterns().iter().map(|(name, _)| *name).collect(), ", ");
        Err(WorkloadError::field(path, found, format!("exactly one of {all}")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pattern, refused, star};
    use super::*;
    use crate::units::Rate;

    #[test]
    fn an_entry_reads_back_as_written() {
        let poisson = r#"{"load":0.3,"load_of":"payload","sizes":"websearch","duration":"10ms"}"#;
        let json = format!(r#"{{"tag":"background","start":"1ms","priority":3,"poisson":{poisson}}}"#);
        let spec: WorkloadSpec = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&spec).unwrap(), json);
        assert_eq!(spec.name(), Some("background"));
        assert_eq!(pattern("list", "[]").name(), Some("list"));
    }

    #[test]
    fn exactly_one_pattern() {
        let fabric = star(4, Rate::gbps(100));
        assert_eq!(
            refused(&fabric, &WorkloadSpec::default()),
            "workload[0] = no pattern: must be exactly one of poisson, incast, permutation, list, trace, ns3"
        );
        let mut spec = pattern("incast", r#"{"fan_in": 2, "size": 1}"#);
        spec.permutation = pattern("permutation", r#"{"size": 1}"#).permutation;
        assert!(refused(&fabric, &spec).starts_with("workload[0] = incast and permutation: must be exactly one of"));
    }

    #[test]
    fn unknown_fields_are_refused() {
        let why = |json: &str| serde_json::from_str::<WorkloadSpec>(json).unwrap_err().to_string();
        assert!(why(r#"{"poison": {}}"#).starts_with("unknown field `poison`, expected one of `tag`, `start`"));
        assert!(why(r#"{"incast": {"fanin": 3}}"#).starts_with("unknown field `fanin`, expected one of `fan_in`"));
        assert!(why(r#"{"start": 5}"#).starts_with("`5` has no unit"));
    }

    #[test]
    fn every_field_has_a_description() {
        let schema = serde_json::to_value(schemars::schema_for!(WorkloadSpec)).unwrap();
        let mut checked = 0;
        let records = schema["$defs"].as_object().unwrap().values().chain([&schema]);
        for properties in records.filter_map(|record| record["properties"].as_object()) {
            for (name, field) in properties {
                assert!(field["description"].is_string(), "{name}: {field}");
                checked += 1;
            }
        }
        assert!(checked > 30, "{checked}");
    }
}
