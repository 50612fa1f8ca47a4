//! Congestion controls of TCP: they size the window.

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

#[derive(Debug, Clone, Copy)]
pub(super) struct Acked {
    pub(super) now: Time,
    pub(super) bytes: u64,
    pub(super) una: u64,
    pub(super) high: u64,
    pub(super) marked: bool,
    /// Before the ACK, in bytes.
    pub(super) cwnd: u64,
    pub(super) mss: u64,
    /// [`Time::ZERO`] before the first measurement.
    pub(super) srtt: Time,
}

/// Windows in bytes.
pub(super) trait Window {
    fn avoid_congestion(&mut self, acked: &Acked) -> u64;
    fn after_loss(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64;
    fn after_marks(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
        self.after_loss(cwnd, flight, mss)
    }
    /// For every ACK of new bytes, before other methods.
    fn observe(&mut self, _acked: &Acked) {}
    fn on_timeout(&mut self) {}
}

pub(super) trait WindowParams: Default {
    type State: Window;
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
            /// Names and summaries.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[$(($name, $summary)),+];

            /// Control by name, with defaults.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant($params::default())),)+ _ => None }
            }
            /// Name in scenarios.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }
            /// Schema of a control's parameters; `None`: unknown name.
            pub fn parameters(name: &str) -> Option<Schema> {
                match name { $($name => Some(schemars::schema_for!($params)),)+ _ => None }
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
