//! How a TCP window grows and shrinks: one small file for each control.
//!
//! A control is told what was acknowledged, marked or lost, and answers with windows in bytes. Which segments are lost, and when
//! to send what, is not its business. To add one: write its file (parameters, state, tests) and add its line to the list below.

mod cubic;
mod dctcp;
mod reno;
mod slow_start;

use incast_model::units::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

pub use cubic::CubicParams;
pub use dctcp::TcpDctcpParams;
pub use reno::RenoParams;
pub use slow_start::SlowStartParams;

use crate::congestion::BadParameter;

/// What an acknowledgement of new bytes says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acked {
    /// When it came.
    pub(super) now: Time,
    /// Bytes acknowledged by it for the first time.
    pub(super) bytes: u64,
    /// First byte not acknowledged, now.
    pub(super) una: u64,
    /// First byte never sent.
    pub(super) high: u64,
    /// Whether it echoes a mark.
    pub(super) marked: bool,
    /// The window before it, in bytes.
    pub(super) cwnd: u64,
    /// Payload of a full segment, in bytes.
    pub(super) mss: u64,
    /// Smoothed round-trip time; [`Time::ZERO`] before the first measurement.
    pub(super) srtt: Time,
}

/// The state of one flow's control. Windows are in bytes.
pub(super) trait Window {
    /// The window after an acknowledgement beyond slow start.
    fn avoid_congestion(&mut self, acked: &Acked) -> u64;
    /// The window at which a loss ends slow start from now on; `flight` is what was in flight.
    fn after_loss(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64;
    /// The same after marks.
    fn after_marks(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
        self.after_loss(cwnd, flight, mss)
    }
    /// Told of every acknowledgement of new bytes, before anything else.
    fn observe(&mut self, _acked: &Acked) {}
    /// Told of every timeout.
    fn on_timeout(&mut self) {}
}

/// The parameters of a control.
pub(super) trait WindowParams: Default {
    /// The state it starts.
    type State: Window;
    fn check(&self) -> Result<(), BadParameter>;
    fn start(&self) -> Self::State;
}

macro_rules! windows {
    ($($name:literal, $summary:literal => $variant:ident($params:ident)),+ $(,)?) => {
        /// Congestion control of TCP.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub enum TcpControl {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($params)),+
        }

        impl TcpControl {
            /// Names of all controls, with what they are.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[$(($name, $summary)),+];

            /// One by name, with all defaults.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant($params::default())),)+ _ => None }
            }
            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }
            /// JSON schema of the parameters of one; `None` where there is no such name.
            pub fn parameters(name: &str) -> Option<Schema> {
                match name { $($name => Some(schemars::schema_for!($params)),)+ _ => None }
            }
            pub(super) fn check(&self) -> Result<(), BadParameter> {
                match self { $(Self::$variant(params) => params.check()),+ }
            }
            pub(super) fn start(&self) -> State {
                match self { $(Self::$variant(params) => State::$variant(params.start())),+ }
            }
        }

        impl JsonSchema for TcpControl {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "TcpControl".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = Self::CATALOGUE.iter().map(|(name, _)| *name).collect();
                schemars::json_schema!({
                    "description": "Congestion control of TCP",
                    "anyOf": [
                        { "type": "string", "enum": names, "description": "with all defaults" },
                        $({
                            "description": $summary,
                            "type": "object",
                            "properties": { $name: generator.subschema_for::<$params>() },
                            "required": [$name],
                            "additionalProperties": false,
                        }),+
                    ],
                })
            }
        }

        /// The state of one flow's control, dispatched statically.
        #[derive(Debug)]
        pub(super) enum State {
            $($variant(<$params as WindowParams>::State)),+
        }

        impl Window for State {
            fn avoid_congestion(&mut self, acked: &Acked) -> u64 {
                match self { $(Self::$variant(state) => state.avoid_congestion(acked)),+ }
            }
            fn after_loss(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
                match self { $(Self::$variant(state) => state.after_loss(cwnd, flight, mss)),+ }
            }
            fn after_marks(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
                match self { $(Self::$variant(state) => state.after_marks(cwnd, flight, mss)),+ }
            }
            fn observe(&mut self, acked: &Acked) {
                match self { $(Self::$variant(state) => state.observe(acked)),+ }
            }
            fn on_timeout(&mut self) {
                match self { $(Self::$variant(state) => state.on_timeout()),+ }
            }
        }
    };
}

windows! {
    "reno", "one segment more per round trip, half the window after a loss (RFC 5681)" => Reno(RenoParams),
    "cubic", "a cubic function of the time since the last loss (RFC 9438)" => Cubic(CubicParams),
    "dctcp", "as reno, with cuts by the share of marks (RFC 8257)" => Dctcp(TcpDctcpParams),
    "slow-start", "a segment more per acknowledgement, for ever (YAPS)" => SlowStart(SlowStartParams),
}

impl Default for TcpControl {
    fn default() -> Self {
        Self::Cubic(CubicParams::default())
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// An acknowledgement of one full segment at a time, for a window of so many.
    pub(crate) fn segment_of(cwnd: u64) -> Acked {
        Acked {
            now: Time::ZERO,
            bytes: 1460,
            una: 1460,
            high: 1460 + cwnd,
            marked: false,
            cwnd,
            mss: 1460,
            srtt: Time::us(100),
        }
    }
}
