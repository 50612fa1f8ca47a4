use incast_model::field::FieldError;
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::switch::{EcnParams, SwitchParams};

/// Parameters of a transport.
pub trait TransportParams: Default + Clone + Serialize + DeserializeOwned + JsonSchema {
    /// One line for `incast list`.
    const SUMMARY: &'static str;
    /// Named parameter sets with sources, default first.
    const PROFILES: &'static [(&'static str, &'static str)];

    /// Profile by name.
    fn profile(name: &str) -> Option<Self>;
    /// Returns the first violated relation between parameters; fields declare ranges.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
    /// Default switches.
    fn switch(&self) -> SwitchParams;
    /// Default ECN marking; `None`: none.
    fn ecn(&self) -> Option<EcnParams> {
        None
    }
    /// Priorities of control packets, as bits.
    fn priorities(&self) -> u8 {
        0
    }
    /// Retransmission timeout or interval of repeated requests, with its field.
    fn timeout(&self) -> Option<(&'static str, Time)> {
        None
    }
    /// Most packets of a flow without an acknowledgement or data, with its field.
    fn in_flight(&self) -> Option<(&'static str, u32)> {
        None
    }
    /// Time after which a waiting flow is stuck.
    fn patience(&self) -> Time;
}

/// Transport, as listed.
#[derive(Debug, Clone)]
pub struct TransportInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// See [`TransportParams::PROFILES`].
    pub profiles: &'static [(&'static str, &'static str)],
    /// See [`TransportParams::switch`].
    pub switch: SwitchParams,
    /// See [`TransportParams::ecn`].
    pub ecn: Option<EcnParams>,
    /// Parameters' JSON schema.
    pub schema: schemars::Schema,
}

macro_rules! transports {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($params:ident, $endpoint:ty)),+ $(,)?) => {
        /// A transport other than RDMA, with its parameters.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Transport {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params)),+
        }

        impl Transport {
            /// Names of all transports.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// All transports.
            pub fn catalogue() -> Vec<TransportInfo> {
                vec![$(TransportInfo {
                    name: $name,
                    summary: $params::SUMMARY,
                    profiles: $params::PROFILES,
                    switch: $params::default().switch(),
                    ecn: $params::default().ecn(),
                    schema: schemars::schema_for!($params),
                }),+]
            }
            /// Named parameter sets of a transport, default first; made without its schema, which takes long.
            pub fn profiles(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
                match name {
                    $($name => Some($params::PROFILES),)+
                    _ => None,
                }
            }
            /// Transport by name and profile.
            pub fn named(name: &str, profile: &str) -> Option<Self> {
                match name {
                    $($name => $params::profile(profile).map(Self::$variant),)+
                    _ => None,
                }
            }
            /// Name in scenarios.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }
            /// See [`TransportParams::check`].
            pub fn check(&self) -> Result<(), incast_model::field::FieldError> {
                match self { $(Self::$variant(params) => params.check()),+ }
            }
            /// See [`TransportParams::switch`].
            pub fn switch(&self) -> $crate::switch::SwitchParams {
                match self { $(Self::$variant(params) => params.switch()),+ }
            }
            /// See [`TransportParams::priorities`].
            pub fn priorities(&self) -> u8 {
                match self { $(Self::$variant(params) => params.priorities()),+ }
            }
            /// See [`TransportParams::timeout`].
            pub fn timeout(&self) -> Option<(&'static str, incast_model::units::Time)> {
                match self { $(Self::$variant(params) => params.timeout()),+ }
            }
            /// See [`TransportParams::in_flight`].
            pub fn in_flight(&self) -> Option<(&'static str, u32)> {
                match self { $(Self::$variant(params) => params.in_flight()),+ }
            }
            /// See [`TransportParams::patience`].
            pub(crate) fn patience(&self) -> incast_model::units::Time {
                match self { $(Self::$variant(params) => params.patience()),+ }
            }
            /// See [`TransportParams::ecn`].
            pub fn ecn(&self) -> Option<$crate::switch::EcnParams> {
                match self { $(Self::$variant(params) => params.ecn()),+ }
            }
            pub(crate) const fn acknowledges(&self) -> bool {
                match self { $(Self::$variant(_) => <$endpoint>::ACKNOWLEDGES),+ }
            }
            pub(crate) const fn reports_arrivals(&self) -> bool {
                match self { $(Self::$variant(_) => <$endpoint>::REPORTS_ARRIVALS),+ }
            }
            /// True if packets have the priorities of their flows.
            pub const fn keeps_priority(&self) -> bool {
                match self { $(Self::$variant(_) => <$endpoint>::KEEPS_PRIORITY),+ }
            }
        }

        #[derive(Debug)]
        pub(crate) enum AnyEndpoint {
            $($variant($endpoint)),+
        }

        impl AnyEndpoint {
            pub(crate) fn new(transport: &Transport, scope: Scope) -> Self {
                match transport { $(Transport::$variant(params) => Self::$variant(<$endpoint>::new(params, scope))),+ }
            }
            pub(crate) fn start(&mut self, stack: &mut impl Stack, own: $crate::kernel::SentId) {
                match self { $(Self::$variant(one) => one.start(stack, own)),+ }
            }
            pub(crate) fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
                match self { $(Self::$variant(one) => one.receive(stack, packet)),+ }
            }
            pub(crate) fn timer(&mut self, stack: &mut impl Stack, own: $crate::kernel::SentId) {
                match self { $(Self::$variant(one) => one.timer(stack, own)),+ }
            }
            pub(crate) fn task(&mut self, stack: &mut impl Stack, nic: $crate::kernel::LocalPort, job: Job) {
                match self { $(Self::$variant(one) => one.task(stack, nic, job)),+ }
            }
            pub(crate) fn left_host(&mut self, stack: &mut impl Stack, own: $crate::kernel::SentId) {
                match self { $(Self::$variant(one) => one.left_host(stack, own)),+ }
            }
            pub(crate) fn stop(&mut self, stack: &mut impl Stack, own: $crate::kernel::SentId) {
                match self { $(Self::$variant(one) => one.stop(stack, own)),+ }
            }
            pub(crate) fn resume(&mut self, stack: &mut impl Stack, own: $crate::kernel::SentId) {
                match self { $(Self::$variant(one) => one.resume(stack, own)),+ }
            }
            pub(crate) fn pull(&mut self, stack: &mut impl Stack, nic: $crate::kernel::LocalPort, paused: u8) -> Option<($crate::kernel::SentId, Outgoing)> {
                match self { $(Self::$variant(one) => one.pull(stack, nic, paused)),+ }
            }
            pub(crate) fn may_pull(&self, nic: $crate::kernel::LocalPort) -> bool {
                match self { $(Self::$variant(one) => one.may_pull(nic)),+ }
            }
            pub(crate) fn may_end(&self, own: $crate::kernel::SentId, end: u64, acks: impl Iterator<Item = u64>) -> bool {
                match self { $(Self::$variant(one) => one.may_end(own, end, acks)),+ }
            }
            pub(crate) fn flows(&self) -> Box<dyn Iterator<Item = ($crate::kernel::SentId, u64)> + '_> {
                match self { $(Self::$variant(one) => Box::new(one.flows())),+ }
            }
            pub(crate) fn rate(&self) -> Option<u64> {
                match self { $(Self::$variant(one) => one.rate()),+ }
            }
            pub(crate) fn late(&mut self, now: u64, arrived: &dyn Fn($crate::kernel::SentId) -> u64) -> Vec<$crate::kernel::SentId> {
                match self { $(Self::$variant(one) => one.late(now, arrived)),+ }
            }
        }
    };
}
