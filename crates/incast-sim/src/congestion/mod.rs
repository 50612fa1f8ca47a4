//! Congestion controls: pure state machines, one small file each.
//!
//! A control is told facts ([`Ack`], a CNP, a timer it asked for, bytes sent) and answers with a rate, a window and the
//! time of its next timer. It touches no packet, no queue and no clock. To add one: write its file (parameters, state,
//! tests), and add its line to the list at the end of this one.

mod dcqcn;
mod dctcp;
mod hpcc;
mod hpcc_pint;
mod swift;
#[cfg(test)]
mod testing;
mod timely;
mod timely_patched;
mod unlimited;

use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use dcqcn::{DcqcnParams, DcqcnVariant};
pub use dctcp::DctcpParams;
pub use hpcc::HpccParams;
pub(crate) use hpcc::int_record;
pub use hpcc_pint::HpccPintParams;
pub(crate) use hpcc_pint::UNITS as PINT_UNITS;
pub use swift::SwiftParams;
pub use timely::TimelyParams;
pub use timely_patched::TimelyPatchedParams;
pub use unlimited::UnlimitedParams;

use crate::switch::EcnParams;

/// Most INT records that a packet can carry.
pub const MAX_INT_RECORDS: usize = 8;

/// What one switch wrote into a packet as it left: time, bytes sent and queue of the port, and the port's rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// Departure in ticks (see [`FlowContext::tick`]) in the low 56 bits, index of the port's rate in the high 8.
    stamp: u64,
    /// Wire bytes the port had sent before this packet, modulo 2^32; or in the reference's units, modulo 2^20.
    pub tx: u32,
    /// Bytes queued at the port without this packet; or in the reference's units.
    pub queue: u32,
}

impl IntRecord {
    /// A record of a port whose rate is number `rate` in the run's table.
    pub const fn new(ticks: u64, rate: u8, tx: u32, queue: u32) -> Self {
        Self { stamp: (ticks & (u64::MAX >> 8)) | (rate as u64) << 56, tx, queue }
    }
    /// A record that holds PINT's power alone.
    pub(crate) const fn of_pint(power: u16) -> Self {
        Self { stamp: 0, tx: 0, queue: power as u32 }
    }
    /// PINT's power.
    pub(crate) const fn pint(&self) -> u16 {
        self.queue as u16
    }
    /// Departure in ticks.
    pub const fn ticks(&self) -> u64 {
        self.stamp & (u64::MAX >> 8)
    }
    /// Index of the port's rate.
    pub const fn rate(&self) -> usize {
        (self.stamp >> 56) as usize
    }
}

/// How INT records are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntFormat {
    /// Picoseconds and bytes, as they are.
    Exact,
    /// The reference's bit fields (`int-header.h`): ns modulo 2^24, 128·multi bytes modulo 2^20, 80·multi bytes.
    Quantised {
        /// `INT_MULTI`: the NIC's rate over 25 Gb/s.
        multi: u32,
    },
}

/// What a control knows of its flow and its surroundings when the flow starts.
#[derive(Debug, Clone, Copy)]
pub struct FlowContext {
    /// Rate of the sender's port.
    pub line: Rate,
    /// Base round-trip time that windows and rates are converted by.
    pub base_rtt: Time,
    /// Window at line rate, in bytes.
    pub bdp: u64,
    /// Payload of a full packet, in bytes.
    pub mtu: u64,
    /// Seconds in a tick of INT stamps: 1e-12, or 1e-9 in `ns3` arithmetic.
    pub tick: f64,
    /// `base_rtt` in ticks.
    pub rtt_ticks: u64,
    /// How INT records are carried.
    pub int: IntFormat,
    /// In `ns3` arithmetic, how long before its arrival an ACK left the last switch (which decides who is first among
    /// events of one nanosecond there); zero otherwise.
    pub ack_age: Time,
}

/// What data packets carry for a control, and their ACKs bring back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telemetry {
    /// Nothing: an ECN bit at most.
    None,
    /// The time at which the packet was sent. (Every packet of the simulator knows it; this one also pays for the header.)
    Timestamp,
    /// A record from every switch on the way.
    Int,
    /// The largest utilisation on the way, as a power of a base.
    Pint,
}

impl Telemetry {
    /// Whether switches write it, not the sender.
    pub(crate) const fn is_written_by_switches(self) -> bool {
        matches!(self, Self::Int | Self::Pint)
    }
}

/// Something that a control may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// ECN marks, in ACKs or as CNPs.
    Marks,
    /// [`FlowContext::base_rtt`], in whatever unit.
    BaseRtt,
    /// [`FlowContext::bdp`].
    Bdp,
}

/// Facts about an ACK or NACK, after the sender's books have been updated.
#[derive(Debug, Clone, Copy)]
pub struct Ack<'a> {
    /// Arrival.
    pub now: Time,
    /// Next byte the receiver expects.
    pub seq: u64,
    /// Next byte the sender will send.
    pub next: u64,
    /// Whether it answers a packet marked by ECN.
    pub marked: bool,
    /// Whether it is a NACK.
    pub nack: bool,
    /// Time since the answered packet began to be sent.
    pub rtt: Time,
    /// INT records of the answered packet, in order of the path.
    pub int: &'a [IntRecord],
    /// PINT's power in the answered packet, 0 without.
    pub pint: u16,
    /// What the control was started with.
    pub flow: &'a FlowContext,
    /// Rates of the fabric's ports in bit/s, as INT records index them.
    pub rates: &'a [u64],
}

/// Limit of the bytes in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowMode {
    /// No limit.
    Off,
    /// The bandwidth-delay product.
    Fixed,
    /// The bandwidth-delay product times rate over line rate ("+w" in the HPCC evaluation).
    Rate,
}

/// The state of one flow's control.
pub trait Controller {
    /// An ACK or NACK came.
    fn on_ack(&mut self, ack: &Ack<'_>);
    /// A congestion notification packet came.
    fn on_cnp(&mut self, _now: Time) {}
    /// The time given by [`Controller::next_timer`] came.
    fn on_timer(&mut self, _now: Time) {}
    /// Nothing was acknowledged for a retransmission timeout: the sender goes back to the first byte not acknowledged.
    fn on_timeout(&mut self, _now: Time) {}
    /// The flow's path has so many links. Told once, before anything is sent.
    fn on_path(&mut self, _links: u8) {}
    /// `bytes` of the flow (with headers) went onto the wire.
    fn on_sent(&mut self, _bytes: u64, _now: Time) {}
    /// The rate to send at now, in bit/s.
    fn rate(&self) -> u64;
    /// A window of its own in bytes, where the control is window-driven; [`WindowMode`] can only narrow it.
    fn window(&self) -> u64 {
        u64::MAX
    }
    /// When [`Controller::on_timer`] is wanted; [`Time::MAX`] for never.
    fn next_timer(&self) -> Time {
        Time::MAX
    }
}

/// A field of a control's parameters that is out of range, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadParameter {
    /// Name of the field.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// What is allowed.
    pub allowed: &'static str,
}

impl BadParameter {
    /// `Err` unless `holds`.
    pub fn unless(holds: bool, field: &'static str, value: impl ToString, allowed: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { field, value: value.to_string(), allowed }) }
    }
}

/// The parameters of a control: what a scenario says of it.
pub trait ControlParams: Default + Clone + Serialize + DeserializeOwned + JsonSchema {
    /// One line for `incast list`.
    const SUMMARY: &'static str;
    /// Named parameter sets with their sources; the first is the default.
    const PROFILES: &'static [(&'static str, &'static str)];
    /// What data packets must carry.
    const TELEMETRY: Telemetry = Telemetry::None;
    /// Whether a change of rate also moves the next transmission already scheduled (HPCC), or counts from the next
    /// packet on (DCQCN).
    const MOVES_NEXT_SEND: bool = false;
    /// What it never looks at, so that `incast show` can say which parameters have no effect under it.
    const IGNORES: &'static [Input] = &[];
    /// Increases of the rate whose defaults are meant for NICs of 100 Gb/s and scale with the NIC, so that `incast show` can give
    /// them for other NICs.
    const INCREASES: &'static [&'static str] = &[];
    /// The window used where the scenario says nothing.
    const WINDOW: WindowMode;
    /// How switches mark for it where nobody says otherwise; `None`: as they do by default, which is as DCQCN wants it.
    const ECN: Option<EcnParams> = None;
    /// The state it starts.
    type State: Controller;

    /// A profile by name.
    fn profile(name: &str) -> Option<Self>;
    /// The first parameter out of range, if any.
    fn check(&self) -> Result<(), BadParameter>;
    /// The state of a flow that starts now.
    fn start(&self, flow: &FlowContext) -> Self::State;
}

/// What `incast list` says of a control.
#[derive(Debug, Clone)]
pub struct ControlInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Named parameter sets with their sources; the first is the default.
    pub profiles: &'static [(&'static str, &'static str)],
    /// The window used where the scenario says nothing.
    pub window: WindowMode,
    /// How switches mark for it where nobody says otherwise; `None`: as they do by default.
    pub ecn: Option<EcnParams>,
    /// JSON schema of its parameters.
    pub schema: schemars::Schema,
}

macro_rules! controls {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($params:ident)),+ $(,)?) => {
        /// A congestion control with its parameters.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Control {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params)),+
        }

        impl Control {
            /// Rate of the NICs that defaults are meant for: those of the HPCC evaluation.
            pub const INCREASES_FOR: Rate = Rate::gbps(100);

            /// Names of all controls.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// All controls, for listing.
            pub fn catalogue() -> Vec<ControlInfo> {
                vec![$(ControlInfo {
                    name: $name,
                    summary: $params::SUMMARY,
                    profiles: $params::PROFILES,
                    window: $params::WINDOW,
                    ecn: $params::ECN,
                    schema: schemars::schema_for!($params),
                }),+]
            }
            /// A control by name, under one of its profiles.
            pub fn named(name: &str, profile: &str) -> Option<Self> {
                match name {
                    $($name => $params::profile(profile).map(Self::$variant),)+
                    _ => None,
                }
            }
            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }
            /// What data packets must carry.
            pub const fn telemetry(&self) -> Telemetry {
                match self { $(Self::$variant(_) => $params::TELEMETRY),+ }
            }
            /// Whether it never looks at `input`.
            pub fn ignores(&self, input: Input) -> bool {
                match self { $(Self::$variant(_) => $params::IGNORES.contains(&input)),+ }
            }
            /// Whether a change of rate moves the next transmission already scheduled.
            pub const fn moves_next_send(&self) -> bool {
                match self { $(Self::$variant(_) => $params::MOVES_NEXT_SEND),+ }
            }
            /// Increases of the rate whose defaults are meant for NICs of [`Self::INCREASES_FOR`] and scale with the NIC.
            pub const fn increases(&self) -> &'static [&'static str] {
                match self { $(Self::$variant(_) => $params::INCREASES),+ }
            }
            /// The window used where the scenario says nothing.
            pub const fn default_window(&self) -> WindowMode {
                match self { $(Self::$variant(_) => $params::WINDOW),+ }
            }
            /// How switches mark for it where nobody says otherwise; `None`: as they do by default.
            pub const fn ecn(&self) -> Option<EcnParams> {
                match self { $(Self::$variant(_) => $params::ECN),+ }
            }
            /// The first parameter out of range, if any.
            pub fn check(&self) -> Result<(), BadParameter> {
                match self { $(Self::$variant(params) => params.check()),+ }
            }
            /// The state of a flow that starts now.
            pub fn start(&self, flow: &FlowContext) -> State {
                match self { $(Self::$variant(params) => State::$variant(params.start(flow))),+ }
            }
        }

        /// The state of one flow's control, dispatched statically.
        #[derive(Debug, Clone)]
        pub enum State {
            $($(#[$doc])* $variant(<$params as ControlParams>::State)),+
        }

        impl State {
            /// Rate, window and next timer at once, at the price of one look at which control it is.
            #[inline]
            pub(crate) fn answers(&self) -> (u64, u64, Time) {
                match self { $(Self::$variant(state) => (state.rate(), state.window(), state.next_timer())),+ }
            }
        }

        impl Controller for State {
            #[inline]
            fn on_ack(&mut self, ack: &Ack<'_>) {
                match self { $(Self::$variant(state) => state.on_ack(ack)),+ }
            }
            fn on_cnp(&mut self, now: Time) {
                match self { $(Self::$variant(state) => state.on_cnp(now)),+ }
            }
            fn on_timer(&mut self, now: Time) {
                match self { $(Self::$variant(state) => state.on_timer(now)),+ }
            }
            fn on_timeout(&mut self, now: Time) {
                match self { $(Self::$variant(state) => state.on_timeout(now)),+ }
            }
            fn on_path(&mut self, links: u8) {
                match self { $(Self::$variant(state) => state.on_path(links)),+ }
            }
            #[inline]
            fn on_sent(&mut self, bytes: u64, now: Time) {
                match self { $(Self::$variant(state) => state.on_sent(bytes, now)),+ }
            }
            #[inline]
            fn rate(&self) -> u64 {
                match self { $(Self::$variant(state) => state.rate()),+ }
            }
            #[inline]
            fn window(&self) -> u64 {
                match self { $(Self::$variant(state) => state.window()),+ }
            }
            #[inline]
            fn next_timer(&self) -> Time {
                match self { $(Self::$variant(state) => state.next_timer()),+ }
            }
        }
    };
}

controls! {
    /// Data Center QCN: ECN marks, rate cuts, timed recovery.
    "dcqcn" => Dcqcn(DcqcnParams),
    /// DCTCP on RDMA hosts: ECN marks, a cut per round trip by their share.
    "dctcp" => Dctcp(DctcpParams),
    /// High Precision Congestion Control by in-band telemetry.
    "hpcc" => Hpcc(HpccParams),
    /// HPCC by one or two bytes of telemetry.
    "hpcc_pint" => HpccPint(HpccPintParams),
    /// A window that holds the round-trip time at a target.
    "swift" => Swift(SwiftParams),
    /// Round-trip times and their gradient.
    "timely" => Timely(TimelyParams),
    /// TIMELY with one fixed point, equal for all flows.
    "timely_patched" => TimelyPatched(TimelyPatchedParams),
    /// Line rate, whatever happens.
    "unlimited" => Unlimited(UnlimitedParams),
}
