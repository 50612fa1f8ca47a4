//! Parameters of routing, load balancing, link failures and pauses that nodes send by themselves.

use incast_model::routing::{EcmpHash, NextHopOrder, Paths};
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::balance::Balance;

/// How packets find their way: load balancing, given routes, links that fail, pauses that nodes send by themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkParams {
    /// Which paths packets take where no route is given. Up-down needs a fabric in tiers. Default shortest (our choice).
    pub routing: Paths,
    /// Hash of a flow's addresses and ports that picks one of several equal next hops. Default mix64 (our
    /// choice).
    pub hash: EcmpHash,
    /// In which order those next hops are numbered. Default port, by number (our choice).
    pub next_hop_order: NextHopOrder,
    /// Which of several equal next hops a packet takes. Default ecmp (the HPCC evaluation).
    pub load_balancing: Balance,
    /// Routes that are given. All others are those of `routing`. Default none.
    pub route: Vec<RouteParams>,
    /// Switches that a packet may come to, 1 to 255: the last of them drops it, as by IP's time to live. Default 64 (RFC 1700,
    /// as most systems send).
    pub ttl: u8,
    /// Links and switches that fail. Default none.
    pub failure: Vec<FailureParams>,
    /// Priorities that nodes pause by themselves. Default none (our choice).
    pub pause: Vec<PauseParams>,
    /// Time from a failure or repair of a link until routes everywhere are the paths over what is up; absent: they
    /// never change, and packets for a dead link are lost as long as it is down. Default 10ms (our choice: local repair in
    /// hardware takes microseconds, a routing protocol tens to hundreds of milliseconds). A link that is down from the
    /// start is not on any route, unless this is absent.
    pub reroute_after: Option<Time>,
}

impl Default for NetworkParams {
    fn default() -> Self {
        Self {
            routing: Paths::default(),
            hash: EcmpHash::default(),
            next_hop_order: NextHopOrder::default(),
            load_balancing: Balance::default(),
            route: Vec::new(),
            ttl: 64,
            failure: Vec::new(),
            pause: Vec::new(),
            reroute_after: Some(Time::ms(10)),
        }
    }
}

/// The next hops of a node towards a host, in place of those of `routing`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteParams {
    /// The switch (or host) that has this route, by name.
    pub at: String,
    /// The host that it leads to, or a switch for all hosts on it, by name.
    pub to: String,
    /// The neighbours that it goes by, by name; one or more, among which the balancing chooses. Shortest or not.
    pub via: Vec<String>,
    /// Since when it holds. Default 0s: from the start. A route that comes later may lead packets in circles, as a wrong one
    /// does.
    #[serde(default, skip_serializing_if = "is_start")]
    pub from: Time,
    /// Until when it holds. Default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

fn is_start(time: &Time) -> bool {
    *time == Time::ZERO
}

/// A link or a switch that fails, and for how long. Exactly one of `link`, `switch` and `random` says what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailureParams {
    /// The link between two nodes, by their names; all of them if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// Of several parallel links this one, from 0 in order of the fabric. Default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// All links of a switch, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Links drawn at random by the scenario's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomLinks>,
    /// When. Default 0s: from the start.
    pub at: Time,
    /// When it is repaired. Default never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// A failure that nobody notices (a gray failure): the link stays up, PFC frames pass, and this fraction of all other
    /// packets is lost in each direction, above 0 up to 1. Default: the link is down, and both its ends know at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent: Option<f64>,
}

/// A priority that a node pauses by itself, whatever lies in its buffers: what a NIC does that malfunctions or cannot keep up (a
/// PFC storm), and what holds one priority for an experiment. An XOFF goes out when the pause begins, and an XON when it ends;
/// from a switch that must then pause by its own threshold, once that allows it. When the link goes down the pause ends like
/// any other, and is sent anew when the link comes up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseParams {
    /// The host (or switch) that sends the pause, by name.
    pub at: String,
    /// The neighbour that it pauses, by name; all links to it if there are several. A switch needs one. Default: all neighbours
    /// of a host (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// What is paused: one of the priorities of `switch.lossless`.
    pub priority: u8,
    /// When it begins. Default 0s: from the start (our choice).
    #[serde(default, skip_serializing_if = "is_start")]
    pub from: Time,
    /// When it ends. Default never (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// Links drawn at random, each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomLinks {
    /// How many.
    pub links: u32,
    /// Of those between nodes of these two tiers (0 hosts, 1 their switches, and so on up). Default: of all between
    /// switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<[u8; 2]>,
}
