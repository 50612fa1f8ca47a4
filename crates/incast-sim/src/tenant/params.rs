//! Parameters of hypervisors, with their profiles.

use incast_model::range::{above, least};
use incast_model::units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::marking::{EcnParams, MarkAt};

/// Rate limiter of a VM pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShaperParams {
    /// Maximum queue in packets; drops when full. Default 1000 (Linux: `txqueuelen`).
    #[schemars(transform = least(1))]
    pub packets: u32,
    /// Maximum queueing delay at the present limit, except for four packets. Default 200ms (our choice: 1000 packets at
    /// 1.5 Mb/s would take 8 s).
    #[schemars(transform = above("0s"))]
    pub delay: Time,
    /// Bucket size, in time at the limit, at least two full packets. Default 1ms (our choice).
    pub burst: Time,
}

impl Default for ShaperParams {
    fn default() -> Self {
        Self { packets: 1000, delay: Time::ms(200), burst: Time::ms(1) }
    }
}

/// Congestion signal of the receiving hypervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detection {
    /// Losses: gaps in the sequence numbers of a pair's packets.
    #[default]
    Losses,
    /// ECN marks too; hypervisors make every packet markable, and remove marks before the VM sees them.
    Ecn,
}

/// Weight of a pair from its guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WeightMode {
    /// Guarantee over `weight_of`: pairs compete in proportion to their guarantees.
    #[default]
    Proportional,
    /// `weight_of` over the guarantee, as printed in the text: small guarantees compete hardest.
    Literal,
}

/// Rate limits above the guarantees: Seawall's law (NSDI 2011, section 3.1) as ElasticSwitch has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RateParams {
    /// Time between changes of the limits. Default 15ms (SIGCOMM 2013, section 7).
    #[schemars(transform = above("0s"))]
    pub period: Time,
    /// Cut of the limit per congestion event, 0 to 1. Default 0.4 (SIGCOMM 2013, section 7: alpha).
    #[schemars(transform = least(0).most(1))]
    pub decrease: f64,
    /// Share of the way back to the limit before the congestion, at first, per 15 ms; 0 to 1. Default 0.75 (SIGCOMM 2013,
    /// section 7: delta).
    #[schemars(transform = least(0).most(1))]
    pub recovery: f64,
    /// Minimum increase per 15 ms at weight 1. Default 500kbps (SIGCOMM 2013, section 7: A).
    #[schemars(transform = above("0bps"))]
    pub step: Rate,
    /// Divisor of the time since the last congestion, or since the hold after it, in seconds. Default 1.5 (SIGCOMM 2013, section 7: TS).
    #[schemars(transform = above(0))]
    pub time_scale: f64,
    /// Maximum of that time after scaling. Default 4 (our choice: otherwise pairs idle for 20 s grow by gigabits per 15 ms).
    #[schemars(transform = above(0))]
    pub longest: f64,
    /// If true, a pair waits after losses before its limit grows, longer for small guarantees (Hold-Increase). Default
    /// true (SIGCOMM 2013, section 5).
    pub hold_increase: bool,
    /// Factor on remembered losses per 15 ms at weight 1; to the power of w at weight w. Default 0.75 (SIGCOMM 2013,
    /// section 7: gamma).
    #[schemars(transform = least(0).most(1))]
    pub forget: f64,
    /// Remembered losses above which a pair waits. Default 1 (our choice).
    #[schemars(transform = least(0))]
    pub hold_above: f64,
    /// If true, a limit grows more slowly the more it exceeds the guarantee (Rate-Caution). Default true (SIGCOMM 2013,
    /// section 5).
    pub rate_caution: bool,
    /// Slowdown of growth: factor 1 - `caution` at twice the guarantee. Default 0.5 (SIGCOMM 2013, section 7: C).
    #[schemars(transform = least(0).most(1))]
    pub caution: f64,
    /// Minimum of that factor. Default 0.3 (SIGCOMM 2013, section 7: Cmin).
    #[schemars(transform = least(0).most(1))]
    pub min_growth: f64,
    /// Congestion signal. Default losses (SIGCOMM 2013).
    pub detection: Detection,
    /// Packets after a gap before the missing ones count as lost. Default 3 (our choice).
    #[schemars(transform = least(1))]
    pub reordering: u32,
}

/// Period of `step`, `recovery` and `forget`, and default of `period` (SIGCOMM 2013, section 7).
pub(super) const PERIOD: Time = Time::ms(15);

impl Default for RateParams {
    fn default() -> Self {
        Self {
            period: PERIOD,
            decrease: 0.4,
            recovery: 0.75,
            step: Rate(500_000),
            time_scale: 1.5,
            longest: 4.0,
            hold_increase: true,
            forget: 0.75,
            hold_above: 1.0,
            rate_caution: true,
            caution: 0.5,
            min_growth: 0.3,
            detection: Detection::Losses,
            reordering: 3,
        }
    }
}

/// ElasticSwitch (Popa et al., SIGCOMM 2013): divides guarantees of VMs among pairs, and spare capacity between pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ElasticSwitchParams {
    /// Time between divisions of a VM's guarantee among its pairs. Default 60ms (SIGCOMM 2013, section 7).
    #[schemars(transform = above("0s"))]
    pub partition_period: Time,
    /// Delay before new pairs get their share. Default 1ms (our choice).
    pub new_pair_delay: Time,
    /// Extra demand of a pair without a backlog, as a share of its traffic. Default 0.1 (our choice).
    #[schemars(transform = least(0))]
    pub slack: f64,
    /// Minimum of a pair as a share of an equal part, 0 to 1, so that it can show demand. Default 0.25 (our choice).
    #[schemars(transform = least(0).most(1))]
    pub floor: f64,
    /// Time without a packet after which a pair loses its part of the guarantee. Default 1s (our choice).
    #[schemars(transform = above("0s"))]
    pub idle_timeout: Time,
    /// Weight of a pair from its guarantee. Default proportional (our reading: with the inverse, as printed, small
    /// guarantees would be the most aggressive).
    pub weight: WeightMode,
    /// Guarantee with weight 1. Default 450Mbps (SIGCOMM 2013, section 7).
    #[schemars(transform = above("0bps"))]
    pub weight_of: Rate,
    /// Guarantee assumed for a VM without one. Default 1Mbps (our choice).
    #[schemars(transform = above("0bps"))]
    pub without_guarantee: Rate,
    /// Limits above the guarantees.
    pub rate: RateParams,
    /// Rate limiters.
    pub shaper: ShaperParams,
}

impl Default for ElasticSwitchParams {
    fn default() -> Self {
        Self {
            partition_period: Time::ms(60),
            new_pair_delay: Time::ms(1),
            slack: 0.1,
            floor: 0.25,
            idle_timeout: Time::ms(1000),
            weight: WeightMode::Proportional,
            weight_of: Rate(450_000_000),
            without_guarantee: Rate(1_000_000),
            rate: RateParams::default(),
            shaper: ShaperParams::default(),
        }
    }
}

/// Seawall (Shieh et al., NSDI 2011): VMs share links by weights, without guarantees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeawallParams {
    /// Weight of every VM, divided equally among its destinations. Default 1 (NSDI 2011, section 3.2: equal weights).
    #[schemars(transform = above(0))]
    pub weight: f64,
    /// Minimum limit. Default 1Mbps (our choice).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
    /// Time without a packet after which a pair loses its part of the weight. Default 1s (our choice).
    #[schemars(transform = above("0s"))]
    pub idle_timeout: Time,
    /// Limits; ElasticSwitch's Hold-Increase and Rate-Caution are off by default.
    #[serde(default = "plain")]
    pub rate: RateParams,
    /// Rate limiters.
    pub shaper: ShaperParams,
}

fn plain() -> RateParams {
    RateParams { hold_increase: false, rate_caution: false, ..RateParams::default() }
}

impl Default for SeawallParams {
    fn default() -> Self {
        Self {
            weight: 1.0,
            min_rate: Rate(1_000_000),
            idle_timeout: Time::ms(1000),
            rate: plain(),
            shaper: ShaperParams::default(),
        }
    }
}

/// Guarantees enforced at receivers only, as in EyeQ (Jeyakumar et al., NSDI 2013): a VM that receives more than its
/// part of its server's link notifies its senders to slow down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeOnlyParams {
    /// Minimum time between measurements of a VM's received rate. Default 200us (EyeQ, NSDI 2013).
    #[schemars(transform = above("0s"))]
    pub period: Time,
    /// Unassigned share of a server's link, 0 or more and less than 1: otherwise its queue stays full, and idle VMs
    /// cannot show demand. Default 0.1 (our choice).
    #[schemars(transform = least(0).below(1))]
    pub headroom: f64,
    /// Gain of the rate sent to senders, 0 to 1. Default 0.5 (EyeQ, NSDI 2013: alpha).
    #[schemars(transform = least(0).most(1))]
    pub gain: f64,
    /// Guarantee assumed for a VM without one. Default 1Mbps (our choice).
    #[schemars(transform = above("0bps"))]
    pub without_guarantee: Rate,
    /// Minimum received bytes per feedback message; sets the time between measurements. Default 10kB (our choice).
    #[schemars(transform = least("1B"))]
    pub feedback_every: Bytes,
    /// Silence after which a VM or sender does not count. VMs that received a packet since, ACKs included, divide their server's
    /// link by their hoses; what one does not use is lost. Default 10ms (our choice).
    #[schemars(transform = above("0s"))]
    pub idle_timeout: Time,
    /// Rate limiters.
    pub shaper: ShaperParams,
}

impl Default for EdgeOnlyParams {
    fn default() -> Self {
        Self {
            period: Time::us(200),
            headroom: 0.1,
            gain: 0.5,
            without_guarantee: Rate(1_000_000),
            feedback_every: Bytes(10_000),
            idle_timeout: Time::ms(10),
            shaper: ShaperParams::default(),
        }
    }
}

/// Fixed limits, the best for the workload's pairs: max-min on the hoses alone, as an ideal Oktopus (Ballani et al.,
/// SIGCOMM 2011). If all flows of a pair are UDP with a rate, the pair gets
/// at most the sum of these rates. Unused capacity is not shared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReservationParams {
    /// Rate limiters.
    pub shaper: ShaperParams,
}

/// Hypervisors between VMs and the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hypervisor {
    /// Guarantees with work conservation.
    #[serde(rename = "elasticswitch")]
    ElasticSwitch(ElasticSwitchParams),
    /// Fixed limits.
    Reservation(ReservationParams),
    /// Weights without guarantees.
    Seawall(SeawallParams),
    /// Guarantees at receivers' links alone.
    EdgeOnly(EdgeOnlyParams),
}

/// Hypervisor, as listed.
#[derive(Debug, Clone)]
pub struct HypervisorInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// Summary, one line.
    pub summary: &'static str,
    /// JSON schema of the parameters.
    pub schema: schemars::Schema,
}

impl Hypervisor {
    /// Lists all hypervisors.
    pub fn catalogue() -> Vec<HypervisorInfo> {
        let one = |name, summary, schema| HypervisorInfo { name, summary, schema };
        vec![
            one(
                "elasticswitch",
                "ElasticSwitch: divides guarantees of VMs among pairs, and spare capacity between pairs",
                schemars::schema_for!(ElasticSwitchParams),
            ),
            one(
                "reservation",
                "Fixed limits, the best for the pairs of the workload: an ideal Oktopus",
                schemars::schema_for!(ReservationParams),
            ),
            one("seawall", "Seawall: weights of senders, without guarantees", schemars::schema_for!(SeawallParams)),
            one(
                "edge_only",
                "Guarantees at the receiver's link only, as in EyeQ and Gatekeeper",
                schemars::schema_for!(EdgeOnlyParams),
            ),
        ]
    }

    /// Default ECN marking; `None`: no marks used.
    pub fn ecn(&self) -> Option<EcnParams> {
        let marks = self.rate().is_some_and(|rate| rate.detection == Detection::Ecn);
        // 20 packets at 1 Gb/s (DCTCP, SIGCOMM 2010, section 3.4; ElasticSwitch's text names no threshold).
        let step = EcnParams::step(Bytes(20 * 1500));
        marks.then_some(EcnParams { per_rate: Rate::gbps(1), mark_at: MarkAt::Enqueue, ..step })
    }

    /// Names in scenarios.
    pub const NAMES: &'static [&'static str] = &["elasticswitch", "reservation", "seawall", "edge_only"];

    /// Hypervisor by name, with defaults.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "elasticswitch" => Some(Self::ElasticSwitch(ElasticSwitchParams::default())),
            "reservation" => Some(Self::Reservation(ReservationParams::default())),
            "seawall" => Some(Self::Seawall(SeawallParams::default())),
            "edge_only" => Some(Self::EdgeOnly(EdgeOnlyParams::default())),
            _ => None,
        }
    }

    /// Name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ElasticSwitch(_) => "elasticswitch",
            Self::Reservation(_) => "reservation",
            Self::Seawall(_) => "seawall",
            Self::EdgeOnly(_) => "edge_only",
        }
    }

    /// Parameters of the limiters.
    pub const fn shaper(&self) -> &ShaperParams {
        match self {
            Self::ElasticSwitch(params) => &params.shaper,
            Self::Reservation(params) => &params.shaper,
            Self::Seawall(params) => &params.shaper,
            Self::EdgeOnly(params) => &params.shaper,
        }
    }

    /// Parameters of rate allocation by congestion, if any.
    pub const fn rate(&self) -> Option<&RateParams> {
        match self {
            Self::ElasticSwitch(params) => Some(&params.rate),
            Self::Seawall(params) => Some(&params.rate),
            Self::Reservation(_) | Self::EdgeOnly(_) => None,
        }
    }
}

impl Hypervisor {
    /// Periods by parameter; answers should arrive within them.
    pub fn periods(&self) -> Vec<(&'static str, Time)> {
        let rate = self.rate().map(|rate| ("rate.period", rate.period));
        let own = match self {
            Self::ElasticSwitch(params) => Some(("partition_period", params.partition_period)),
            Self::EdgeOnly(params) => Some(("period", params.period)),
            Self::Reservation(_) | Self::Seawall(_) => None,
        };
        rate.into_iter().chain(own).collect()
    }

    /// False if pairs have no guarantees.
    pub(crate) const fn guarantees(&self) -> bool {
        !matches!(self, Self::Seawall(_))
    }

    pub(crate) const fn sees_neighbours(&self) -> bool {
        matches!(self, Self::EdgeOnly(_))
    }

    pub(super) const fn without_guarantee(&self) -> Rate {
        match self {
            Self::ElasticSwitch(params) => params.without_guarantee,
            Self::EdgeOnly(params) => params.without_guarantee,
            Self::Seawall(_) | Self::Reservation(_) => Rate::ZERO,
        }
    }

    /// Silence after which a pair is inactive.
    pub(crate) const fn idle_timeout(&self) -> Time {
        match self {
            Self::ElasticSwitch(params) => params.idle_timeout,
            Self::Seawall(params) => params.idle_timeout,
            Self::EdgeOnly(params) => params.idle_timeout,
            Self::Reservation(_) => Time::MAX,
        }
    }
}
