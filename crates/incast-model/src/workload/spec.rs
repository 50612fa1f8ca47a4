use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::all_to_all::AllToAll;
use super::disaggregated::Disaggregated;
use super::entry::Pattern;
use super::htsim::Htsim;
use super::incast::Incast;
use super::list::ListedFlow;
use super::moe::MoeAllToAll;
use super::ns3::Ns3;
use super::permutation::Permutation;
use super::poisson::Poisson;
use super::request_response::RequestResponse;
use super::ring::RingAllReduce;
use super::shuffle::Shuffle;
use super::trace::Trace;
use super::tree::TreeAllReduce;
use crate::entry::EntryError;
use crate::range::{least, priority};
use crate::units::Time;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident: $kind:ty, $summary:literal, $source:expr;)+) => {
        /// Entry of the workload: exactly one pattern, and the common parameters of its flows.
        ///
        /// Patterns are fields of their own rather than variants of a flattened enum, which would lose the place of an error.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct WorkloadSpec {
            /// Label of its flows in results, shared by entries of the same label. It names the entry's random streams: with another
            /// label, the same seed draws other flows. Default: the pattern's name.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub label: Option<String>,
            /// Tenant of the pattern: a `[[tenant]]`, or one of its tenants, such as `x3`. Each tenant has its own pattern,
            /// with its VMs as hosts 0, 1, …. Default: all hosts.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub tenant: Option<String>,
            /// Start of the pattern. Default 0.
            #[serde(default)]
            pub start: Time,
            /// End: no flow of the pattern starts later, and backlogged flows stop. Default none. Requests and iterations
            /// (mixture of experts: of all layers) in progress are completed; flows of a list, trace or connection matrix are
            /// cancelled if their dependencies end later.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub end: Option<Time>,
            /// Traffic class of its data packets, 1 to 7 (0 carries PFC frames). Default 3 (the HPCC evaluation's lossless
            /// class).
            #[serde(default = "default_priority")]
            #[schemars(transform = priority().named("a traffic class"))]
            pub priority: u8,
            /// Queue pairs that each message is split over evenly, 1 to 128, each with its own source port, so ECMP spreads
            /// them; a message ends with the last. Default 1 (NCCL's `NCCL_IB_QPS_PER_CONNECTION`, with
            /// `NCCL_IB_SPLIT_DATA_ON_QPS`).
            #[serde(default = "one")]
            #[schemars(transform = least(1).most(128))]
            pub qps: u16,
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$kind>,
            )+
        }

        impl Default for WorkloadSpec {
            fn default() -> Self {
                Self {
                    label: None,
                    tenant: None,
                    start: Time::ZERO,
                    end: None,
                    priority: default_priority(),
                    qps: one(),
                    $($name: None),+
                }
            }
        }

        impl WorkloadSpec {
            /// Patterns' names, descriptions and sources.
            pub(super) const PATTERNS: &[(&str, &str, Option<&str>)] = &[$((stringify!($name), $summary, $source)),+];

            pub(super) fn patterns(&self) -> Vec<(&'static str, Option<&dyn Pattern>)> {
                vec![$((stringify!($name), self.$name.as_ref().map(|one| one as &dyn Pattern))),+]
            }
        }
    };
}

const fn default_priority() -> u8 {
    3
}

const fn one() -> u16 {
    1
}

patterns! {
    /// Open-loop Poisson flows between random hosts.
    poisson: Poisson,
        "open-loop flows between random hosts at a load: Poisson or bursty, optionally with locality",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.1");
    /// Many hosts to one, at the same instant.
    incast: Incast,
        "incasts: many random hosts send to one at the same instant, once, periodically, or at a load",
        Some("Li et al. (HPCC), SIGCOMM 2019, sec. 5.3");
    /// Every host to one other.
    permutation: Permutation,
        "every host sends to one other and receives from one, random or by stride: one flow each, or at a load",
        None;
    /// Every host of a set to every other.
    all_to_all: AllToAll,
        "every rank sends to every other, all at the same time or with a window; repeatable",
        None;
    /// Every mapper to every reducer.
    shuffle: Shuffle,
        "every mapper sends to every reducer at the same time; one mapper makes an outcast",
        None;
    /// Ring all-reduce, reduce-scatter or all-gather.
    ring_all_reduce: RingAllReduce,
        "ring all-reduce of data-parallel training, or one of its phases, in dependent steps",
        Some("Patarasuk and Yuan, JPDC 69(2), 2009");
    /// All-reduce over a tree or by recursive exchange.
    tree_all_reduce: TreeAllReduce,
        "all-reduce in a logarithmic number of steps: binomial or binary tree, recursive doubling, halving-doubling",
        Some("Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005");
    /// Dispatch and combine of mixture-of-experts layers.
    moe_all_to_all: MoeAllToAll,
        "mixture-of-experts layers: dispatch, compute, combine; optionally skewed",
        Some("Lepikhin et al. (GShard), ICLR 2021, sec. 3");
    /// Closed-loop requests and responses; partition-aggregate.
    request_response: RequestResponse,
        "closed-loop requests of clients to random servers; partition-aggregate with fan_out",
        Some("Alizadeh et al. (DCTCP), SIGCOMM 2010, sec. 2.1");
    /// Flows between CPU, memory and disk blades.
    disaggregated: Disaggregated,
        "flows between CPU, memory and disk blades: synthetic applications, or drawn from measured flows",
        Some("Gao et al., OSDI 2016; the applications are synthetic");
    /// Flows as listed.
    list: Vec<ListedFlow>,
        "flows listed in the scenario, optionally with explicit paths and dependencies",
        None;
    /// Flows of a CSV or Parquet file.
    trace: Trace,
        "flows of a CSV or Parquet file, optionally with dependencies",
        None;
    /// Flows of an ns-3 flow file.
    ns3: Ns3,
        "flows of an ns-3 flow file",
        Some("the HPCC authors' simulator, repository alibaba-edu/High-Precision-Congestion-Control");
    /// Flows of an htsim connection matrix.
    htsim: Htsim,
        "flows and triggers of an htsim connection matrix (.cm)",
        Some("repository Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp");
}

impl WorkloadSpec {
    /// Label, or the pattern's name.
    pub fn name(&self) -> Option<&str> {
        self.label.as_deref().or_else(|| self.given().next().map(|(name, _)| name))
    }

    pub(super) fn collective(&self) -> Option<&'static str> {
        const COLLECTIVES: [&str; 4] = ["ring_all_reduce", "tree_all_reduce", "all_to_all", "moe_all_to_all"];
        self.given().map(|(name, _)| name).find(|name| COLLECTIVES.contains(name))
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &dyn Pattern)> {
        self.patterns().into_iter().filter_map(|(name, pattern)| Some((name, pattern?)))
    }

    pub(super) fn pattern(&self, path: &str) -> Result<(&'static str, &dyn Pattern), EntryError> {
        let given: Vec<_> = self.given().collect();
        if let [one] = given[..] {
            return Ok(one);
        }
        let given: Vec<&str> = given.iter().map(|(name, _)| *name).collect();
        let all: Vec<&str> = self.patterns().iter().map(|(name, _)| *name).collect();
        Err(EntryError::choice(path, &given, format!("exactly one pattern of {}", all.join(", "))))
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
        let json = format!(r#"{{"label":"background","start":"1ms","priority":3,"qps":1,"poisson":{poisson}}}"#);
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
            "workload[0]: none is given (allowed: exactly one pattern of poisson, incast, permutation, all_to_all, shuffle, ring_all_reduce, tree_all_reduce, moe_all_to_all, request_response, disaggregated, list, trace, ns3, htsim)"
        );
        let mut spec = pattern("incast", r#"{"fan_in": 2, "size": 1}"#);
        spec.permutation = pattern("permutation", r#"{"size": 1}"#).permutation;
        assert!(refused(&fabric, &spec).starts_with(
            "workload[0]: `incast` and `permutation` are given where one is allowed (allowed: exactly one pattern of"
        ));
    }

    #[test]
    fn unknown_fields_are_refused() {
        let why = |json: &str| serde_json::from_str::<WorkloadSpec>(json).unwrap_err().to_string();
        assert!(why(r#"{"poison": {}}"#).starts_with("unknown field `poison`, expected one of `label`, `tenant`"));
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
