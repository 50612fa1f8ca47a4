use incast_model::range::{above, least};
use incast_model::routing::{EcmpHash, NextHopOrder, Paths};
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::balance::Balance;

/// Routing, load balancing, failures and PFC storms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkParams {
    /// Paths without given routes; up-down needs a fabric in tiers. Default shortest (our choice).
    pub routing: Paths,
    /// Hash that picks one of several equal next hops. Default mix64 (our choice).
    pub hash: EcmpHash,
    /// Order of equal next hops. Default port (our choice).
    pub next_hop_order: NextHopOrder,
    /// Load balancing over equal next hops. Default ecmp (the HPCC evaluation).
    pub load_balancing: Balance,
    /// Given routes, in place of `routing`. Default none.
    pub route: Vec<RouteParams>,
    /// Time to live: switches of a path, 1 to 255; the last one drops the packet. Default 64 (RFC 1700, as most systems
    /// send).
    #[schemars(transform = least(1).most(255))]
    pub ttl: u8,
    /// Failing links and switches. Default none.
    pub failure: Vec<FailureParams>,
    /// PFC storms: priorities that nodes pause by themselves. Default none (our choice).
    pub pause: Vec<PauseParams>,
    /// Time from a failure or repair of a link until all routes follow; `"none"`: routes stay, and packets for a dead
    /// link are lost. Default 10ms (our choice: hardware repair takes microseconds, a routing protocol 10 to 1000 ms).
    /// Links that are down from the start are on no route, unless this is `"none"`.
    pub reroute_after: Option<Time>,
    /// Time that a link must stay down, and up, before its switches report the change to routing; `reroute_after` follows.
    /// A change that does not last is not reported. Default 0s each (Junos `hold-time`: 0 ms each).
    pub hold_time: HoldTime,
}

/// Hold times of links' states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HoldTime {
    /// Time that a link must stay down: a repair before cancels the withdrawal of its routes. Default 0s (Junos).
    pub down: Time,
    /// Time that a link must stay up: its routes come back only then (hold-down). Default 0s (Junos).
    pub up: Time,
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
            hold_time: HoldTime::default(),
        }
    }
}

/// Next hops of a node towards a host, in place of `routing`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteParams {
    /// Switch (or host) with this route, by name.
    pub at: String,
    /// Destination host by name, or a switch for all its hosts.
    pub to: String,
    /// Next hops by name, one or more, shared by load balancing; any neighbours.
    pub via: Vec<String>,
    /// Start. Default 0s. A later route can lead packets in a loop, as a wrong one does.
    #[serde(default, skip_serializing_if = "is_start")]
    pub from: Time,
    /// End. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

fn is_start(time: &Time) -> bool {
    *time == Time::ZERO
}

/// Failure of a link or a switch: exactly one of `link`, `switch` and `random`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailureParams {
    /// Link, or all parallel links, between two nodes, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// Number of the parallel link, from 0 in the fabric's order. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// Switch that loses all its links, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Links drawn at random by the scenario's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomLinks>,
    /// Time of the failure. Default 0s.
    pub at: Time,
    /// Time of the repair. Default never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Flap: number of failures, 1 to 1000, each as long as the first. Default 1.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(transform = least(1).most(1000))]
    pub times: u32,
    /// Flap: time from one failure to the next, more than `until` - `at`; required if `times` is more than 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
    /// Gray failure: the link stays up, passes PFC frames, and loses this fraction of other packets each way, more than
    /// 0 and at most 1. Default: the link is down, and both ends know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above(0).most(1))]
    pub silent: Option<f64>,
}

impl Default for FailureParams {
    fn default() -> Self {
        Self {
            link: None,
            parallel: None,
            switch: None,
            random: None,
            at: Time::ZERO,
            until: None,
            times: 1,
            every: None,
            silent: None,
        }
    }
}

fn is_one(times: &u32) -> bool {
    *times == 1
}

/// PFC storm: a priority that a node pauses regardless of its buffers, as a malfunctioning or slow NIC does. It sends
/// XOFF at the start and XON at the end; a switch that must then pause by its own threshold sends XON when the
/// threshold allows. The pause ends when the link goes down, and starts again when it comes up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseParams {
    /// Host (or switch) that sends the pause, by name.
    pub at: String,
    /// Neighbour that it pauses, by name, over all links to it; required for a switch. Default: all neighbours of a
    /// host (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Paused priority, one of `switch.lossless`.
    pub priority: u8,
    /// Start. Default 0s (our choice).
    #[serde(default, skip_serializing_if = "is_start")]
    pub from: Time,
    /// End. Default never (our choice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Many pauses at random times between `from` and `until`, as of a slow receiver. Default: one pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomPauses>,
}

/// Pauses after gaps, each of a length drawn by the scenario's seed, uniform between two times of 1 us or more. Entries of
/// one sender draw equal lengths, so priorities can be paused together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomPauses {
    /// Shortest and longest pause.
    pub pause: [Time; 2],
    /// Shortest and longest gap before a pause.
    pub gap: [Time; 2],
}

/// Links drawn at random, each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomLinks {
    /// Number of links.
    pub links: u32,
    /// Tiers of the two ends: 0 hosts, 1 their switches, and so on up. Default: any two switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<[u8; 2]>,
}
