//! Priorities of data at hosts: short flows (mice) before long ones (elephants).

use incast_model::flow::{Flow, FlowSet};
use incast_model::range::priority;
use incast_model::rng::mix;
use incast_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Priorities of short and long flows at hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassParams {
    /// Rule that sets the priority of a flow in place of the workload. Default given (the HPCC evaluation).
    pub by: ClassBy,
    /// Priority of mice, 1 to 7. Default 4 (our choice: above data, 3).
    #[schemars(transform = priority())]
    pub mice: u8,
    /// Priority of elephants, 1 to 7. Default 3 (data in the HPCC evaluation).
    #[schemars(transform = priority())]
    pub elephants: u8,
    /// Largest size of a mouse. Default 100kB (our choice: 82 % of data-mining flows, as in the slides on congestion
    /// isolation).
    pub threshold: Bytes,
}

impl Default for ClassParams {
    fn default() -> Self {
        Self { by: ClassBy::default(), mice: 4, elephants: 3, threshold: Bytes(100_000) }
    }
}

/// Rule that tells mice from elephants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassBy {
    /// Priorities of the workload.
    #[default]
    Given,
    /// Flow size, known in advance.
    Size,
    /// Bytes sent: flows start as mice and become elephants beyond the threshold (PIAS, NSDI 2015, with two
    /// priorities); RDMA only. Packets are reordered if priorities are not strict, or one is paused.
    Sent,
    /// Random halves: two queues regardless of size.
    Hash,
}

impl ClassParams {
    /// Sets first priorities by class.
    pub fn apply(&self, flows: &mut FlowSet) {
        if self.by == ClassBy::Given {
            return;
        }
        for (index, flow) in flows.flows.iter_mut().enumerate() {
            flow.priority = if self.is_mouse(index as u64, flow) { self.mice } else { self.elephants };
        }
    }

    fn is_mouse(&self, index: u64, flow: &Flow) -> bool {
        match self.by {
            ClassBy::Given | ClassBy::Sent => true,
            ClassBy::Size => flow.size <= self.threshold,
            ClassBy::Hash => mix(index) & 1 == 0,
        }
    }

    /// Bytes until flows are demoted; [`u64::MAX`]: never.
    pub(crate) const fn demotion(&self) -> u64 {
        match self.by {
            ClassBy::Sent => self.threshold.0,
            _ => u64::MAX,
        }
    }
}
