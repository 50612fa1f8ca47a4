//! Parameters of congestion isolation. The standard's numbers are not public, and those simulated for its group (K.
//! Shen, IEEE 802.1 DCB, November 2017) are lost: hence "our choice" below.

use incast_model::field::FieldError;
use incast_model::range::{above, least, priority};
use incast_model::units::{Bytes, Time};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::super::GuardParams;

/// Congestion isolation (IEEE 802.1Qcz): a switch isolates the later packets of flows that congest an egress port in a
/// separate queue, and notifies the upstream switch, which does the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IsolationParams {
    /// If true, switches isolate flows. Default false (the HPCC evaluation).
    pub enabled: bool,
    /// Priority of isolated flows, 1 to 7: a lossless one that no flow has. Their packets carry it on the wire, so PFC
    /// pauses them separately. Default 2 (our choice: below data, 3).
    #[schemars(transform = priority())]
    pub queue: u8,
    /// Detection of congesting flows. Default marks (802.1Qcz: flows picked as ECN picks packets).
    pub detection: FlowDetection,
    /// Maximum flows isolated per egress port, at least 1; a further flow replaces the oldest without a packet there,
    /// if any. Default none: no limit (our choice).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = least(1).or_none())]
    pub table: Option<u32>,
    /// Length of the port's isolated queue above which isolated packets trigger messages upstream; less than the PFC
    /// threshold. At 100 Gb/s; at other rates in proportion. Default 10kB (our choice: 2·rate·2·delay at 100 Gb/s and 200 ns, after Pyrrha).
    pub message_above: Bytes,
    /// Minimum time between messages about a flow over one link. Default 10us (our choice).
    pub message_every: Time,
    /// Wire bytes of a message, 1 B to 4096 B. Default 64B (our choice: the smallest Ethernet frame).
    #[schemars(transform = least("1B").most("4096B"))]
    pub message: Bytes,
    /// Total length of the port's other lossless queues below which flows can be released. At 100 Gb/s; at other rates in
    /// proportion. Default 20kB (our choice).
    pub release_below: Bytes,
    /// Time without a packet in the isolated queue before a flow is released. Default 50us (our choice).
    #[schemars(transform = above("0s"))]
    pub hold: Time,
    /// Time since the last message before a flow isolated by a message is released. Default 200us (our choice).
    #[schemars(transform = above("0s"))]
    pub age: Time,
    /// Reaction of hosts to messages. Default ignore (our choice: they obey PFC).
    pub hosts: IsolationAtHosts,
    /// Flows that ECN marks; `isolated` has an effect only if `ecn.kmin` is below the queue length above which every flow
    /// is isolated. Default all (our choice; for the other see arXiv 2511.04639).
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

impl GuardParams for IsolationParams {
    fn enabled(&self) -> bool {
        self.enabled
    }

    fn needs_pfc(&self) -> bool {
        true
    }

    fn check(&self, _largest: Bytes) -> Result<(), FieldError> {
        if self.age < self.message_every {
            let message = format!(
                "must be at least message_every, {1}, got {0}: otherwise isolation ends before the next message",
                self.age, self.message_every
            );
            return Err(FieldError::new("age", message));
        }
        let lowest = match self.detection {
            FlowDetection::Marks { kmin, kmax, .. } => {
                if kmin > kmax {
                    let message = format!("kmin {kmin} is above kmax {kmax}; at most that");
                    return Err(FieldError::new("detection.marks.kmin", message));
                }
                kmin
            }
            FlowDetection::Counters { above, .. } => above,
        };
        if self.release_below > lowest {
            let message = format!(
                "must be at most {lowest}, where isolation starts, got {}: otherwise flows are released immediately",
                self.release_below
            );
            return Err(FieldError::new("release_below", message));
        }
        Ok(())
    }

    fn summary(&self) -> Option<String> {
        let found = match self.detection {
            FlowDetection::Marks { kmin, kmax, pmax } => {
                format!("picked as ECN picks packets (Kmin {kmin:#}, Kmax {kmax:#}, Pmax {pmax})")
            }
            FlowDetection::Counters { above, flows } => format!("{flows} largest in a queue above {above:#}"),
        };
        let table = self.table.map_or_else(String::new, |most| format!(", at most {most} per port"));
        let hosts = match self.hosts {
            IsolationAtHosts::Ignore => "",
            IsolationAtHosts::Isolate => ", hosts isolate too",
        };
        let mark = match self.mark {
            MarkedFlows::All => "",
            MarkedFlows::Isolated => ", ECN marks isolated flows only",
        };
        Some(format!(
            "isolation: flows {found}, to priority {}{table}; messages above {:#}, every {:#}{hosts}{mark}; lengths at \
             100 Gb/s, at other rates in proportion",
            self.queue, self.message_above, self.message_every
        ))
    }
}

impl IsolationParams {
    pub(crate) const fn counts_flows(&self) -> bool {
        self.enabled && matches!(self.detection, FlowDetection::Counters { .. })
    }
}

/// Detection of flows that congest an egress queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = or_by_name)]
pub enum FlowDetection {
    /// As ECN marks: the flow of an arriving packet, with a probability by queue length; may pick innocent flows.
    Marks {
        /// Queue length up to which no flow is picked. At 100 Gb/s; at other rates in proportion. Default 100kB (our choice).
        #[serde(default = "marks::kmin")]
        kmin: Bytes,
        /// Queue length above which every packet's flow is picked. At 100 Gb/s; at other rates in proportion. Default 400kB
        /// (our choice: below where ECN marks always).
        #[serde(default = "marks::kmax")]
        kmax: Bytes,
        /// Probability at `kmax`, more than 0 and at most 1. Default 0.2 (our choice).
        #[serde(default = "marks::pmax")]
        #[schemars(transform = above(0).most(1))]
        pmax: f64,
    },
    /// Counters: the flows with most bytes in the queue, while it exceeds a threshold.
    Counters {
        /// Queue length threshold. At 100 Gb/s; at other rates in proportion. Default 400kB (our choice: where marks pick every flow).
        #[serde(default = "counters::above")]
        above: Bytes,
        /// Number of flows, at least 1. Default 4 (our choice).
        #[serde(default = "counters::flows")]
        #[schemars(transform = least(1))]
        flows: u32,
    },
}

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

fn or_by_name(schema: &mut Schema) {
    if let Some(choices) = schema.get_mut("oneOf").and_then(|choices| choices.as_array_mut()) {
        let description = "with all defaults";
        let names =
            schemars::json_schema!({ "type": "string", "enum": ["marks", "counters"], "description": description });
        choices.insert(0, names.to_value());
    }
}

/// Reaction of a host to an isolation message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IsolationAtHosts {
    /// None; the message is counted.
    #[default]
    Ignore,
    /// Sends the flow's RDMA data with the priority of isolated flows, until `age` after the last message.
    Isolate,
}

/// Flows with packets that ECN marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkedFlows {
    /// All flows.
    #[default]
    All,
    /// Isolated flows only.
    Isolated,
}
