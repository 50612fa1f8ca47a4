//! Parameters of congestion isolation. The standard's own numbers are not public, those of the simulation presented to its group
//! (K. Shen, IEEE 802.1 DCB, November 2017) are lost: what "our choice" says below is one, and a parameter for that reason.

use incast_model::units::{Bytes, Time};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// Congestion isolation (IEEE 802.1Qcz): a switch finds flows that congest an egress port, keeps their later packets in a queue
/// of their own at that port, and tells the switch before, which does the same. Thresholds are for ports of 100 Gb/s and scale
/// with the port's rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IsolationParams {
    /// Whether switches isolate flows. Default false (the HPCC evaluation).
    pub enabled: bool,
    /// Priority of isolated flows, 1 to 7: one of the lossless ones, and no flow's own. Their packets have it on the wire too, so
    /// that PFC pauses them apart from others. Default 2 (our choice: below that of data, 3).
    pub queue: u8,
    /// How congesting flows are found. Default marks (802.1Qcz: a flow is picked as ECN picks packets).
    pub detection: FlowDetection,
    /// Most flows that one egress port isolates at a time, at least 1; one more takes the place of the one isolated for longest of those
    /// without a packet there, or stays where it is. Default none: any number (our choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
    /// While the isolated queue of a port holds more than this, each isolated packet that comes for it is reason to tell the node it came
    /// from. Below what makes PFC pause. Default 10kB (our choice: twice rate times two delays of 100 Gb/s and 200 ns, after
    /// Pyrrha's thresholds in per-hop bandwidth-delay products).
    pub message_above: Bytes,
    /// Least time between two messages about a flow over one link. Default 10us (our choice).
    pub message_every: Time,
    /// Wire bytes of a message, 1B to 4096B. Default 64B (our choice: the smallest Ethernet frame).
    pub message: Bytes,
    /// A flow is let go only while other lossless queues of its port are shorter than this together. Default 20kB (our choice).
    pub release_below: Bytes,
    /// A flow is let go when the isolated queue has held no packet of it for so long. Default 50us (our choice).
    pub hold: Time,
    /// A flow isolated because the next switch said so is let go only when that has not been said again for so long. Default
    /// 200us (our choice).
    pub age: Time,
    /// What hosts do about messages. Default ignore (our choice: they obey PFC).
    pub hosts: IsolationAtHosts,
    /// Which packets ECN marks. Default all (our choice; for the other see arXiv 2511.04639).
    pub mark: MarkedFlows,
}

impl Default for IsolationParams {
    fn default() -> Self {
        Self {
            enabled: false,
            queue: 2,
            detection: FlowDetection::default(),
            table: None,
            message_above: Bytes(10_000),
            message_every: Time::us(10),
            message: Bytes(64),
            release_below: Bytes(20_000),
            hold: Time::us(50),
            age: Time::us(200),
            hosts: IsolationAtHosts::default(),
            mark: MarkedFlows::default(),
        }
    }
}

impl IsolationParams {
    /// Whether switches keep the bytes of each flow in a queue.
    pub(crate) const fn counts_flows(&self) -> bool {
        self.enabled && matches!(self.detection, FlowDetection::Counters { .. })
    }
}

/// How a switch finds the flows that congest an egress queue: a way's name, or its name with parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = or_by_name)]
pub enum FlowDetection {
    /// As ECN marks: the flow of a packet that comes for a queue, with a probability by the length that it finds. It may hit a
    /// flow that congests nothing.
    Marks {
        /// Never up to this length. Default 100kB (our choice).
        #[serde(default = "marks::kmin")]
        kmin: Bytes,
        /// Always above this length. Default 400kB (our choice: below where ECN marks always).
        #[serde(default = "marks::kmax")]
        kmax: Bytes,
        /// Probability at kmax, above 0 and at most 1. Default 0.2 (our choice).
        #[serde(default = "marks::pmax")]
        pmax: f64,
    },
    /// By counters: of the flows in the queue those with most bytes there, whenever it is longer than a threshold.
    Counters {
        /// Above this length. Default 400kB (our choice: where marks pick every flow).
        #[serde(default = "counters::above")]
        above: Bytes,
        /// So many flows, at least 1. Default 4 (our choice).
        #[serde(default = "counters::flows")]
        flows: u32,
    },
}

/// Defaults of marks.
mod marks {
    use super::Bytes;

    pub(super) const fn kmin() -> Bytes {
        Bytes(100_000)
    }
    pub(super) const fn kmax() -> Bytes {
        Bytes(400_000)
    }
    pub(super) const fn pmax() -> f64 {
        0.2
    }
}

/// Defaults of counters.
mod counters {
    use super::Bytes;

    pub(super) const fn above() -> Bytes {
        super::marks::kmax()
    }
    pub(super) const fn flows() -> u32 {
        4
    }
}

impl FlowDetection {
    /// Counters with all defaults.
    pub const COUNTERS: Self = Self::Counters { above: counters::above(), flows: counters::flows() };
}

impl Default for FlowDetection {
    fn default() -> Self {
        Self::Marks { kmin: marks::kmin(), kmax: marks::kmax(), pmax: marks::pmax() }
    }
}

/// The names alone are allowed too.
fn or_by_name(schema: &mut Schema) {
    if let Some(choices) = schema.get_mut("oneOf").and_then(|choices| choices.as_array_mut()) {
        let description = "with all defaults";
        let names =
            schemars::json_schema!({ "type": "string", "enum": ["marks", "counters"], "description": description });
        choices.insert(0, names.to_value());
    }
}

/// What a host does when its switch says that a flow is to be isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IsolationAtHosts {
    /// Nothing; the message is counted.
    #[default]
    Ignore,
    /// It sends RDMA data of the flow under the priority of isolated flows, until `age` has passed since the last message.
    Isolate,
}

/// Whose packets ECN marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkedFlows {
    /// Those of all flows.
    #[default]
    All,
    /// Those of isolated flows alone.
    Isolated,
}
