//! Parameters of TCP.
//!
//! YAPS: NetSys/simulator at commit 8e9cf04, `coresim/flow.cpp`, `ext/tcpflow.cpp`.

use incast_model::field::FieldError;
use incast_model::range::{above, least};
use incast_model::units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control::TcpControl;
use crate::switch::{EcnParams, MarkAt, QueueParams, SwitchParams};
use crate::transport::TransportParams;

/// Parameters of TCP. By default no priority is lossless, and switches mark only for senders that react to marks: a
/// step at 65 packets of 1500 B at 10 Gb/s (DCTCP, SIGCOMM 2010, section 3.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpParams {
    /// Congestion control. Default cubic (RFC 9438; Linux).
    pub control: TcpControl,
    /// If true, a handshake takes a round trip before the first data. Default true (RFC 9293, section 3.5).
    pub handshake: bool,
    /// Initial window in segments. Default 10 (RFC 6928; Linux).
    #[schemars(transform = least(1))]
    pub init_cwnd: u32,
    /// Maximum segments in flight, at least `init_cwnd`. Default none: no limit.
    pub max_cwnd: Option<u32>,
    /// Maximum segments that an acknowledgement adds in slow start. Default 2 (RFC 3465).
    #[schemars(transform = least(1))]
    pub abc_limit: u32,
    /// Constant retransmission timeout; `"none"`: from measured round trips (RFC 6298). Default none.
    #[schemars(transform = above("0s").or_none())]
    pub rto: Option<Time>,
    /// Minimum measured timeout. Default 200ms (Linux; RFC 6298: 1 s).
    #[schemars(transform = above("0s"))]
    pub rto_min: Time,
    /// Maximum timeout, at least the others. Default 60s (RFC 6298).
    pub rto_max: Time,
    /// Timeout before the first measurement, also of the handshake. Default 1s (RFC 6298).
    #[schemars(transform = above("0s"))]
    pub rto_init: Time,
    /// If true, timeouts in a row double. Default true (RFC 6298, section 5.5).
    pub backoff: bool,
    /// Duplicate acknowledgements (with SACK: segments beyond a gap) that signal a loss; `"none"`: timeouts only. Default
    /// 3 (RFC 5681; RFC 6675).
    #[schemars(transform = least(1).or_none())]
    pub dupacks: Option<u32>,
    /// If true, selective acknowledgements (RFC 2018, RFC 6675). Default true (Linux).
    pub sack: bool,
    /// Maximum SACK blocks per acknowledgement; `"none"`: all. Default 3 (RFC 2018, with time stamps).
    #[schemars(transform = least(1).or_none())]
    pub sack_blocks: Option<u32>,
    /// Maximum delay of an acknowledgement while the receiver waits for a second segment; `"none"`: none. Default 40ms
    /// (Linux).
    #[schemars(transform = above("0s").or_none())]
    pub delayed_ack: Option<Time>,
    /// Segments after which a receiver acknowledges immediately. Default 2 (RFC 5681).
    #[schemars(transform = least(1))]
    pub ack_every: u32,
    /// If true, a sender reduces its window on ECN marks (RFC 3168); DCTCP always does. Default false (Linux).
    pub ecn: bool,
}

impl Default for TcpParams {
    fn default() -> Self {
        Self {
            control: TcpControl::default(),
            handshake: true,
            init_cwnd: 10,
            max_cwnd: None,
            abc_limit: 2,
            rto: None,
            rto_min: Time::ms(200),
            rto_max: Time::ms(60_000),
            rto_init: Time::ms(1000),
            backoff: true,
            dupacks: Some(3),
            sack: true,
            sack_blocks: Some(3),
            delayed_ack: Some(Time::ms(40)),
            ack_every: 2,
            ecn: false,
        }
    }
}

impl TcpParams {
    /// For round trips of datacenters (Vasudevan et al., SIGCOMM 2009: 1 ms and less).
    fn datacenter(control: TcpControl) -> Self {
        Self { control, rto_min: Time::ms(1), rto_init: Time::ms(10), delayed_ack: None, ..Self::default() }
    }

    /// Common to the simulators of the resource disaggregation study and pHost.
    fn timeouts_only(control: TcpControl) -> Self {
        Self {
            control,
            init_cwnd: 1,
            abc_limit: 1,
            rto: Some(Time::us(45)),
            backoff: false,
            dupacks: None,
            sack_blocks: None,
            delayed_ack: None,
            ..Self::default()
        }
    }

    /// Marks are echoed until the sender reports a reduced window (RFC 3168, section 6.1.3), or once each (RFC 8257).
    pub(super) const fn ecn_echo_is_latched(&self) -> bool {
        !matches!(self.control, TcpControl::Dctcp(_))
    }

    /// True if senders react to marks.
    pub const fn listens(&self) -> bool {
        self.ecn || matches!(self.control, TcpControl::Dctcp(_))
    }
}

impl TransportParams for TcpParams {
    const SUMMARY: &'static str = "TCP: NewReno, CUBIC or DCTCP, with or without selective acknowledgements and ECN";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("linux", "CUBIC, SACK, initial window 10 segments, delayed ACKs, timeouts from 200 ms (Linux)"),
        (
            "datacenter",
            "the same with timeouts from 1 ms and every segment acknowledged (Vasudevan et al., SIGCOMM 2009)",
        ),
        ("newreno", "NewReno without SACK (RFC 5681, RFC 6582), timeouts from 1 ms, every segment acknowledged"),
        ("dctcp", "DCTCP (RFC 8257), timeouts from 1 ms, every segment acknowledged"),
        (
            "disaggregation",
            "the resource disaggregation study: slow start and congestion avoidance, a fixed timeout of 45 us; initial window 1 segment and losses by timeout only (our choice)",
        ),
        (
            "yaps",
            "YAPS: always slow start, initial window 1 segment, at most 12, a fixed timeout of 45 us (coresim/flow.cpp)",
        ),
    ];

    fn profile(name: &str) -> Option<Self> {
        match name {
            "linux" => Some(Self::default()),
            "datacenter" => Some(Self::datacenter(TcpControl::default())),
            "newreno" => Some(Self { sack: false, ..Self::datacenter(TcpControl::named("reno")?) }),
            "dctcp" => Some(Self::datacenter(TcpControl::named("dctcp")?)),
            "disaggregation" => Some(Self::timeouts_only(TcpControl::named("reno")?)),
            "yaps" => Some(Self { max_cwnd: Some(12), ..Self::timeouts_only(TcpControl::named("slow-start")?) }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        let most = self.max_cwnd.unwrap_or(u32::MAX);
        FieldError::unless(most >= self.init_cwnd, "max_cwnd", most, "no fewer segments than init_cwnd, or \"none\"")?;
        let largest = self.rto_min.max(self.rto_init).max(self.rto.unwrap_or_default());
        FieldError::unless(self.rto_max >= largest, "rto_max", self.rto_max, "no less than the other timeouts")
    }

    fn timeout(&self) -> Option<(&'static str, Time)> {
        Some(self.rto.map_or(("rto_min", self.rto_min), |rto| ("rto", rto)))
    }

    fn in_flight(&self) -> Option<(&'static str, u32)> {
        self.max_cwnd.map(|most| ("max_cwnd", most))
    }

    fn patience(&self) -> Time {
        if self.rto.is_some() && !self.backoff { self.rto.unwrap_or_default() * 4 } else { self.rto_max * 2 }
    }

    fn switch(&self) -> SwitchParams {
        let own = self.rto.is_some();
        // Their fixed timeout is made for small buffers per port.
        let queues = if own { QueueParams::DropTail { limit: Bytes(36_864) } } else { QueueParams::Shared };
        SwitchParams { queues, lossless: Vec::new(), ..SwitchParams::default() }
    }

    fn ecn(&self) -> Option<EcnParams> {
        let threshold = EcnParams::step(Bytes(65 * 1500));
        self.listens().then_some(EcnParams { per_rate: Rate::gbps(10), mark_at: MarkAt::Enqueue, ..threshold })
    }
}
