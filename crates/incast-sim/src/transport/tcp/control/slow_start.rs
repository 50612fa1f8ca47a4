//! Window of YAPS's TCP (`coresim/flow.cpp`, `increase_cwnd`, at commit 8e9cf04), for comparison: a segment per ACK at any
//! size; one segment after a timeout.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acked, Window, WindowParams};

/// Parameters of slow start: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowStartParams {}

impl WindowParams for SlowStartParams {
    type State = SlowStart;

    fn start(&self) -> SlowStart {
        SlowStart
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SlowStart;

impl Window for SlowStart {
    fn avoid_congestion(&mut self, acked: &Acked) -> u64 {
        acked.cwnd + acked.mss
    }

    fn after_loss(&mut self, _cwnd: u64, _flight: u64, _mss: u64) -> u64 {
        u64::MAX
    }
}
