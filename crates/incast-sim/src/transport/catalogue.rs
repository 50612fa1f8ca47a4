//! The list of transports and what a scenario says of them.

use incast_model::units::Time;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FastpassParams, IdealParams, PfabricParams, PhostParams, TcpParams, UdpParams};
use crate::congestion::BadParameter;
use crate::switch::{EcnParams, SwitchParams};

/// The parameters of a transport: what a scenario says of it.
pub trait TransportParams: Default + Clone + Serialize + DeserializeOwned + JsonSchema {
    /// One line for `incast list`.
    const SUMMARY: &'static str;
    /// Named parameter sets with their sources; the first is the default.
    const PROFILES: &'static [(&'static str, &'static str)];

    /// A profile by name.
    fn profile(name: &str) -> Option<Self>;
    /// The first parameter out of range, if any.
    fn check(&self) -> Result<(), BadParameter>;
    /// The switches that it is meant for, where nobody says otherwise.
    fn switch(&self) -> SwitchParams;
    /// How switches mark for it where nobody says otherwise; `None`: not at all.
    fn ecn(&self) -> Option<EcnParams> {
        None
    }
    /// Priorities that its packets have besides those of their flows, one bit each.
    fn priorities(&self) -> u8 {
        0
    }
    /// How long a flow may wait on its own before it does something; what waits longer is stuck.
    fn patience(&self) -> Time;
}

/// What `incast list` says of a transport.
#[derive(Debug, Clone)]
pub struct TransportInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Named parameter sets with their sources; the first is the default.
    pub profiles: &'static [(&'static str, &'static str)],
    /// The switches that it is meant for.
    pub switch: SwitchParams,
    /// How switches mark for it where nobody says otherwise; `None`: not at all.
    pub ecn: Option<EcnParams>,
    /// JSON schema of its parameters.
    pub schema: schemars::Schema,
}

macro_rules! transports {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($params:ident)),+ $(,)?) => {
        /// A transport other than RDMA, with its parameters.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Transport {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params)),+
        }

        impl Transport {
            /// Names of all transports.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// All transports, for listing.
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
            /// A transport by name, under one of its profiles.
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
            /// The first parameter out of range, if any.
            pub fn check(&self) -> Result<(), BadParameter> {
                match self { $(Self::$variant(params) => params.check()),+ }
            }
            /// The switches that it is meant for, where nobody says otherwise.
            pub fn switch(&self) -> SwitchParams {
                match self { $(Self::$variant(params) => params.switch()),+ }
            }
            /// Priorities that its packets have besides those of their flows, one bit each.
            pub fn priorities(&self) -> u8 {
                match self { $(Self::$variant(params) => params.priorities()),+ }
            }
            /// How long a flow may wait on its own before it does something; what waits longer is stuck.
            pub(crate) fn patience(&self) -> Time {
                match self { $(Self::$variant(params) => params.patience()),+ }
            }
            /// How switches mark for it where nobody says otherwise; `None`: not at all.
            pub fn ecn(&self) -> Option<EcnParams> {
                match self { $(Self::$variant(params) => params.ecn()),+ }
            }
        }
    };
}

transports! {
    /// TCP: NewReno, CUBIC or DCTCP, with or without selective acknowledgements.
    "tcp" => Tcp(TcpParams),
    /// Queues in order of what is left of flows, and hardly any rate control.
    "pfabric" => Pfabric(PfabricParams),
    /// Receivers give out tokens, one packet each.
    "phost" => Phost(PhostParams),
    /// An arbiter says who sends when.
    "fastpass" => Fastpass(FastpassParams),
    /// A scheduler that knows everything at once.
    "ideal" => Ideal(IdealParams),
    /// A constant rate, whatever becomes of it.
    "udp" => Udp(UdpParams),
}
