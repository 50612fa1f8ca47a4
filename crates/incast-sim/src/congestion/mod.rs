//! Congestion controls: pure state machines without packets, queues or clocks. `controls!` lists them.

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

use incast_model::field::FieldError;
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

use crate::marking::EcnParams;

/// Maximum INT records per packet.
pub const MAX_INT_RECORDS: usize = 8;

/// State of a port when a packet departs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IntRecord {
    /// Low 56 bits: departure in ticks ([`FlowContext::tick`]); high 8: index of the port's rate.
    stamp: u64,
    /// Wire bytes sent before, modulo 2^32; quantised: ns-3's units, modulo 2^20.
    pub tx: u32,
    /// Bytes queued without the packet; quantised: ns-3's units.
    pub queue: u32,
}

impl IntRecord {
    /// Record; `rate`: index into the run's rates.
    pub const fn new(ticks: u64, rate: u8, tx: u32, queue: u32) -> Self {
        Self { stamp: (ticks & (u64::MAX >> 8)) | (rate as u64) << 56, tx, queue }
    }
    /// Copies field by field. A call's result is in memory; without this, so are records that are made without a call, and a
    /// copy of a whole record soon after writes to its fields stalls the processor.
    pub(crate) const fn by_field(self) -> Self {
        Self { stamp: self.stamp, tx: self.tx, queue: self.queue }
    }
    pub(crate) const fn of_pint(power: u16) -> Self {
        Self { stamp: 0, tx: 0, queue: power as u32 }
    }
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

/// Encoding of INT records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntFormat {
    /// In ps and bytes.
    Exact,
    /// Bit fields of the HPCC authors' ns-3 (`int-header.h`): ns modulo 2^24, 128·multi bytes modulo 2^20, 80·multi bytes.
    Quantised {
        /// `INT_MULTI`: NIC rate over 25 Gb/s.
        multi: u32,
    },
}

/// Flow properties, known at its start.
#[derive(Debug, Clone, Copy)]
pub struct FlowContext {
    /// Rate of the sender's port.
    pub line: Rate,
    /// Base round-trip time.
    pub base_rtt: Time,
    /// Window at line rate, in bytes.
    pub bdp: u64,
    /// Full packet's payload in bytes.
    pub mtu: u64,
    /// INT tick in seconds: 1e-12, or 1e-9 in `ns3` arithmetic.
    pub tick: f64,
    /// `base_rtt` in ticks.
    pub rtt_ticks: u64,
    /// See [`IntFormat`].
    pub int: IntFormat,
    /// Time of ACKs from the last switch in `ns3` arithmetic, where it orders events of one nanosecond; otherwise zero.
    pub ack_age: Time,
}

/// Telemetry in data packets and their ACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telemetry {
    /// At most an ECN bit.
    None,
    /// Time of sending; the variant adds the header's bytes.
    Timestamp,
    /// A record per switch.
    Int,
    /// Largest utilisation on the path, as a power of a base.
    Pint,
}

impl Telemetry {
    pub(crate) const fn is_written_by_switches(self) -> bool {
        matches!(self, Self::Int | Self::Pint)
    }
}

/// Input of a control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// ECN marks (ACKs or CNPs).
    Marks,
    /// [`FlowContext::base_rtt`], also in ticks.
    BaseRtt,
    /// [`FlowContext::bdp`].
    Bdp,
}

/// ACK or NACK.
#[derive(Debug, Clone, Copy)]
pub struct Ack<'a> {
    /// Arrival.
    pub now: Time,
    /// Next byte expected by the receiver.
    pub seq: u64,
    /// Next byte to be sent.
    pub next: u64,
    /// If true, the answered packet had an ECN mark.
    pub marked: bool,
    /// True for a NACK that counts as a loss: with selective repeat, beyond the reordering window.
    pub lost: bool,
    /// Time since the start of the answered packet's transmission.
    pub rtt: Time,
    /// INT records in path order.
    pub int: &'a [IntRecord],
    /// PINT's power, or 0.
    pub pint: u16,
    /// 16 random bits of PINT in `ns3` arithmetic, which decide if the ACK is used.
    pub draw: Option<u16>,
    /// Flow.
    pub flow: &'a FlowContext,
    /// Port rates in bit/s, indexed by INT records.
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

/// Flow's control state.
pub trait Controller {
    /// Handles an ACK or NACK.
    fn on_ack(&mut self, ack: &Ack<'_>);
    /// Handles a CNP.
    fn on_cnp(&mut self, _now: Time) {}
    /// Handles the timer set by [`Controller::next_timer`].
    fn on_timer(&mut self, _now: Time) {}
    /// Handles a retransmission timeout (go-back-N).
    fn on_timeout(&mut self, _now: Time) {}
    /// Sets the number of links, before the first packet.
    fn on_path(&mut self, _links: u8) {}
    /// Counts `bytes` (with headers) sent.
    fn on_sent(&mut self, _bytes: u64, _now: Time) {}
    /// Rate in bit/s.
    fn rate(&self) -> u64;
    /// Window in bytes, if window-driven; [`WindowMode`] can only narrow it.
    fn window(&self) -> u64 {
        u64::MAX
    }
    /// Time of the next [`Controller::on_timer`]; [`Time::MAX`]: never.
    fn next_timer(&self) -> Time {
        Time::MAX
    }
    /// True if the last ACK set the rate, be it to the same value: `ns3` arithmetic then looks at the time of the next packet.
    fn has_set_rate(&self) -> bool {
        true
    }
}

/// Parameters of a control.
pub trait ControlParams: Default + Clone + Serialize + DeserializeOwned + JsonSchema {
    /// One line for `incast list`.
    const SUMMARY: &'static str;
    /// Named parameter sets, default first.
    const PROFILES: &'static [(&'static str, &'static str)];
    /// Telemetry.
    const TELEMETRY: Telemetry = Telemetry::None;
    /// If true, a new rate also moves the scheduled transmission (HPCC); if false, only later ones (DCQCN).
    const MOVES_NEXT_SEND: bool = false;
    /// Ignored inputs; `incast show` reports parameters without effect.
    const IGNORES: &'static [Input] = &[];
    /// Rate increases for NICs of 100 Gb/s; `incast show` scales them.
    const INCREASES: &'static [&'static str] = &[];
    /// Default window.
    const WINDOW: WindowMode;
    /// Default ECN marking; `None`: the switches' default, made for DCQCN.
    const ECN: Option<EcnParams> = None;
    /// State of a flow.
    type State: Controller;

    /// Profile by name.
    fn profile(name: &str) -> Option<Self>;
    /// Returns the first violated relation between parameters; fields declare ranges.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
    /// State of a new flow.
    fn start(&self, flow: &FlowContext) -> Self::State;
}

/// Control, as listed.
#[derive(Debug, Clone)]
pub struct ControlInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// Summary, one line.
    pub summary: &'static str,
    /// Named parameter sets, default first.
    pub profiles: &'static [(&'static str, &'static str)],
    /// Default window.
    pub window: WindowMode,
    /// Default ECN marking; `None`: the switches' default.
    pub ecn: Option<EcnParams>,
    /// Parameters' JSON schema.
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
            /// NIC rate of default increases (HPCC evaluation).
            pub const INCREASES_FOR: Rate = Rate::gbps(100);

            /// Names of all controls.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// All controls.
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
            /// Named parameter sets of a control, default first; made without its schema, which takes long.
            pub fn profiles(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
                match name {
                    $($name => Some($params::PROFILES),)+
                    _ => None,
                }
            }
            /// Control by name and profile.
            pub fn named(name: &str, profile: &str) -> Option<Self> {
                match name {
                    $($name => $params::profile(profile).map(Self::$variant),)+
                    _ => None,
                }
            }
            /// Name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }
            /// Telemetry.
            pub const fn telemetry(&self) -> Telemetry {
                match self { $(Self::$variant(_) => $params::TELEMETRY),+ }
            }
            /// True if `input` is ignored.
            pub fn ignores(&self, input: Input) -> bool {
                match self { $(Self::$variant(_) => $params::IGNORES.contains(&input)),+ }
            }
            /// See [`ControlParams::MOVES_NEXT_SEND`].
            pub const fn moves_next_send(&self) -> bool {
                match self { $(Self::$variant(_) => $params::MOVES_NEXT_SEND),+ }
            }
            /// Rate increases for NICs of [`Self::INCREASES_FOR`].
            pub const fn increases(&self) -> &'static [&'static str] {
                match self { $(Self::$variant(_) => $params::INCREASES),+ }
            }
            /// Default window.
            pub const fn default_window(&self) -> WindowMode {
                match self { $(Self::$variant(_) => $params::WINDOW),+ }
            }
            /// Default ECN marking; `None`: the switches' default.
            pub const fn ecn(&self) -> Option<EcnParams> {
                match self { $(Self::$variant(_) => $params::ECN),+ }
            }
            /// See [`ControlParams::check`].
            pub fn check(&self) -> Result<(), FieldError> {
                match self { $(Self::$variant(params) => params.check()),+ }
            }
            /// State of a new flow.
            pub fn start(&self, flow: &FlowContext) -> State {
                match self { $(Self::$variant(params) => State::$variant(params.start(flow))),+ }
            }
        }

        /// Flow's control state, dispatched statically.
        #[derive(Debug, Clone)]
        pub enum State {
            $($(#[$doc])* $variant(<$params as ControlParams>::State)),+
        }

        impl State {
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
            fn has_set_rate(&self) -> bool {
                match self { $(Self::$variant(state) => state.has_set_rate()),+ }
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
