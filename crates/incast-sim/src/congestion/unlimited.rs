//! No congestion control: only PFC or a window limits line rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, ControlParams, Controller, FlowContext, Input, WindowMode};

/// No parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnlimitedParams {}

/// Line rate in bit/s.
#[derive(Debug, Clone)]
pub struct Unlimited(u64);

impl ControlParams for UnlimitedParams {
    const SUMMARY: &'static str = "No control: flows send at line rate, limited by their window (if any) and by PFC";
    const PROFILES: &'static [(&'static str, &'static str)] = &[("default", "no parameters")];
    const IGNORES: &'static [Input] = &[Input::Marks, Input::BaseRtt, Input::Bdp];
    const WINDOW: WindowMode = WindowMode::Off;
    type State = Unlimited;

    fn profile(name: &str) -> Option<Self> {
        (name == "default").then(Self::default)
    }
    fn start(&self, flow: &FlowContext) -> Unlimited {
        Unlimited(flow.line.0)
    }
}

impl Controller for Unlimited {
    fn on_ack(&mut self, _: &Ack<'_>) {}
    fn rate(&self) -> u64 {
        self.0
    }
}
