//! Parameters of packets and of the RDMA host.
//!
//! NS3: the HPCC authors' ns-3 (`rdma-hw.cc`, `qbb-header.cc`, `pause-header.cc` at commit 9f4be2a). YAPS: NetSys/simulator at
//! commit 8e9cf04.

use incast_model::range::{above, least, most, priority};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ClassParams;
use crate::balance::Balance;
use crate::congestion::{MAX_INT_RECORDS, Telemetry};
use crate::host::Carrier;
use crate::kernel::flag;

/// Sizes on the wire. Defaults are those of the HPCC evaluation; profile `rocev2` has those of a real RoCEv2 wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketParams {
    /// Payload of a full data packet. Default 1000B (NS3 `PACKET_PAYLOAD_SIZE`).
    #[schemars(transform = least("1B").most("65535B"))]
    pub payload: Bytes,
    /// Headers of a data packet without INT. Default 48B (NS3: Ethernet 14, IPv4 20, UDP 8, sequence and class 6).
    #[schemars(transform = least("1B").most("4096B"))]
    pub data_header: Bytes,
    /// ACK or NACK without INT. Default 46B (NS3: Ethernet 14, IPv4 20, ports, flags, class and sequence 12).
    #[schemars(transform = most("65535B"))]
    pub ack: Bytes,
    /// Size that ACKs are padded to. Default 60B (NS3).
    #[schemars(transform = most("65535B"))]
    pub min_ack: Bytes,
    /// Congestion notification packet. Default 64B (our choice: the smallest Ethernet frame).
    #[schemars(transform = least("1B").most("4096B"))]
    pub cnp: Bytes,
    /// PFC frame. Default 64B (IEEE 802.3 annex 31B; NS3: 43B).
    #[schemars(transform = least("1B").most("4096B"))]
    pub pfc: Bytes,
    /// Time stamp of controls that measure round trips. Default 8B (NS3 `int-header.h`).
    #[schemars(transform = most("65535B"))]
    pub timestamp: Bytes,
    /// PINT header. Default 2B (NS3 `int-header.h`: its 16-bit field, whatever the base).
    #[schemars(transform = most("65535B"))]
    pub pint: Bytes,
    /// INT header without records. Default 2B (HPCC, SIGCOMM 2019, section 4).
    #[schemars(transform = most("65535B"))]
    pub int_base: Bytes,
    /// INT record. Default 8B (HPCC, SIGCOMM 2019, section 4).
    #[schemars(transform = most("65535B"))]
    pub int_record: Bytes,
    /// Records of every INT header, 0 to 8, whatever the path. Default 5 (NS3 `int-header.h`).
    #[schemars(transform = least(0).most(MAX_INT_RECORDS))]
    pub int_records: u8,
    /// Payload of a full segment, for transports other than RDMA. Default 1460B (TCP on Ethernet; YAPS).
    #[schemars(transform = least("1B").most("65535B"))]
    pub mss: Bytes,
    /// Headers of a segment. Default 40B (YAPS: IPv4 20, TCP 20).
    #[schemars(transform = least("1B").most("4096B"))]
    pub segment_header: Bytes,
    /// Control packets of such transports: acknowledgements, handshakes, announcements, tokens, requests, schedules.
    /// Default 40B (YAPS).
    #[schemars(transform = least("1B").most("4096B"))]
    pub control: Bytes,
    /// Preamble and gap between frames: occupies the port after a packet, is in no counter. Default 0B (NS3); Ethernet
    /// has 20 B.
    #[schemars(transform = most("65535B"))]
    pub gap: Bytes,
}

impl Default for PacketParams {
    fn default() -> Self {
        Self {
            payload: Bytes(1000),
            data_header: Bytes(48),
            ack: Bytes(46),
            min_ack: Bytes(60),
            cnp: Bytes(64),
            pfc: Bytes(64),
            timestamp: Bytes(8),
            pint: Bytes(2),
            int_base: Bytes(2),
            int_record: Bytes(8),
            int_records: 5,
            mss: Bytes(1460),
            segment_header: Bytes(40),
            control: Bytes(40),
            gap: Bytes(0),
        }
    }
}

impl PacketParams {
    /// Profiles with descriptions.
    pub const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("hpcc", "the HPCC evaluation's packets: 1000 B payload, 48 B headers, no gap between frames (the default)"),
        ("rocev2", "RoCEv2 on Ethernet: 1024 B payload, 62 B headers with ICRC and FCS, 20 B preamble and gap"),
    ];

    /// Profile by name.
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "hpcc" => Some(Self::default()),
            // Ethernet 14 + FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4; an ACK adds AETH 4, a CNP 16 reserved bytes.
            "rocev2" => Some(Self {
                payload: Bytes(1024),
                data_header: Bytes(62),
                ack: Bytes(66),
                min_ack: Bytes(64),
                cnp: Bytes(78),
                // TCP over IPv4 on Ethernet; the smallest frame.
                segment_header: Bytes(58),
                control: Bytes(64),
                gap: Bytes(20),
                ..Self::default()
            }),
            _ => None,
        }
    }

    /// Wire bytes of the largest data packet of `carriers`, with INT for RDMA.
    pub fn largest(&self, carriers: &[Carrier]) -> u64 {
        let size = |carrier: &Carrier| match carrier {
            Carrier::Rdma(_) => self.data_header.0 + self.payload.0 + self.telemetry_bytes(Telemetry::Int),
            Carrier::Transport(_) => self.segment_header.0 + self.mss.0,
        };
        carriers.iter().map(size).max().unwrap_or(0)
    }

    /// Smallest packet that switches buffer.
    pub(crate) fn smallest(&self) -> u64 {
        let ack = self.ack.0.max(self.min_ack.0);
        let sizes = [self.data_header.0 + 1, ack, self.cnp.0, self.segment_header.0 + 1, self.control.0];
        sizes.into_iter().fold(u64::MAX, u64::min).max(1)
    }

    /// Wire bytes of data with these [`flag`] bits.
    #[inline]
    pub(crate) const fn data_size(&self, payload: u64, flags: u8) -> u64 {
        self.data_header.0 + payload + self.telemetry(flags)
    }

    /// Telemetry bytes in data packets and ACKs.
    pub const fn telemetry_bytes(&self, telemetry: Telemetry) -> u64 {
        match telemetry {
            Telemetry::None => 0,
            Telemetry::Timestamp => self.timestamp.0,
            Telemetry::Pint => self.pint.0,
            Telemetry::Int => self.int_base.0 + self.int_record.0 * self.int_records as u64,
        }
    }

    /// By [`flag`] bits.
    #[inline]
    pub(crate) const fn telemetry(&self, flags: u8) -> u64 {
        if flags & flag::INT != 0 {
            self.telemetry_bytes(Telemetry::Int)
        } else if flags & flag::STAMP != 0 {
            self.telemetry_bytes(Telemetry::Timestamp)
        } else if flags & flag::PINT != 0 {
            self.telemetry_bytes(Telemetry::Pint)
        } else {
            0
        }
    }
}

/// Queue of a host's port for transports other than RDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NicQueue {
    /// Unlimited, in the order of switch ports: hosts drop none of their own packets.
    #[default]
    Unlimited,
    /// Like those of switch ports, with their limit (YAPS): a host can drop its own burst.
    Port,
}

/// Parameters of hosts, whatever their transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostParams {
    /// Queue of the host's port for transports other than RDMA, which has queue pairs. Default unlimited (our choice).
    pub nic_queue: NicQueue,
    /// Maximum random delay of packets that leave a host, or the server of a VM, at most 1 ms; uniform, in order.
    /// Default 0 (NS3, YAPS). It avoids the lock-out of flows by equal packets at drop-tail queues; a packet's time on
    /// the slowest link is enough (Floyd and Jacobson, CCR 1991).
    #[schemars(transform = most("1ms"))]
    pub jitter: Time,
    /// Priorities of short and long flows. Default: the workload's (the HPCC evaluation).
    pub classes: ClassParams,
}

/// Notification of the sender about ECN marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CnpMode {
    /// Bit in the ACK of the marked packet (NS3).
    #[default]
    Echo,
    /// CNP, at most one per flow and `cnp_interval` (DCQCN, SIGCOMM 2015, section 3.2).
    Packet,
}

/// Loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Receivers discard out-of-order packets; senders resend everything from the first missing packet (NS3; InfiniBand
    /// and RoCEv2 NICs).
    #[default]
    GoBackN,
    /// Receivers keep and report out-of-order packets; senders resend only lost ones (IRN: Mittal et al., SIGCOMM 2018,
    /// section 3.1).
    SelectiveRepeat,
}

/// Parameters of RDMA at hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RdmaParams {
    /// Packets per ACK; the last packet of a message always has one. Default 1 (NS3 `L2_ACK_INTERVAL`). Windows hold at
    /// least this many packets, as there is no ACK timer.
    #[schemars(transform = least(1))]
    pub ack_every: u32,
    /// Priority of ACKs and NACKs, 1 to 7. Default none: that of the data (NS3).
    #[schemars(transform = priority())]
    pub ack_priority: Option<u8>,
    /// If true, a paused host still sends ACKs of the paused priority, which can overflow headroom. Default false (NS3
    /// with a window; without one `ACK_HIGH_PRIO` is 1).
    pub acks_ignore_pause: bool,
    /// Loss recovery. Default go-back-n (NS3).
    pub recovery: Recovery,
    /// Minimum time between NACKs for the same expected byte, with go-back-n. Default 500us (NS3).
    pub nack_interval: Time,
    /// Timeout without an ACK, after which a sender goes back to the first unacknowledged byte; `"none"`: never (NS3).
    /// Default 4ms (our choice: longer than a 32 MiB queue at 100 Gb/s; IRN's RTO_high: 320 us at 40 Gb/s).
    #[schemars(transform = above("0s").or_none())]
    pub rto: Option<Time>,
    /// Timeout where no NACK may report a loss, with selective-repeat: few packets are in flight, or a later packet has
    /// arrived and no more than `reorder_window` others are in flight. At most `rto`, and off with it. Default 100us (IRN,
    /// SIGCOMM 2018, section 4.1: RTO_low; its use with a reordering window is our choice).
    #[schemars(transform = above("0s"))]
    pub rto_low: Time,
    /// Packets in flight that are few for `rto_low`. Default 3 (IRN, section 4.1: N).
    pub rto_low_packets: u32,
    /// If true, the bytes in flight are at most `window`, with selective-repeat, and at most 65535 packets, which a receiver
    /// keeps. Default true (IRN, section 3.2: BDP-FC).
    pub bdp_bound: bool,
    /// Reordering window in packets, at most 32767, with selective-repeat: a packet is lost when one sent more than
    /// this many later arrives. Default none: 0 (IRN: any overtaking is a loss). If load balancing reorders packets
    /// (spray, adaptive), the default is the packets of the fabric's largest bandwidth-delay product, less 2 (our choice,
    /// after RACK, RFC 8985: at most a round trip): packets of a flow may differ in delay by a base RTT, and a sender
    /// within `bdp_bound` can still send the packet that reports a loss.
    #[schemars(transform = most(MAX_REORDER).or_none())]
    pub reorder_window: Option<u32>,
    /// Notification about ECN marks. Default echo (NS3).
    pub cnp: CnpMode,
    /// Minimum time between CNPs of one flow. Default 50us (DCQCN, SIGCOMM 2015, section 5).
    #[schemars(transform = above("0s"))]
    pub cnp_interval: Time,
    /// Priority of CNPs, a lossy class of their own, 1 to 7. Default 7 (our choice).
    #[schemars(transform = priority())]
    pub cnp_priority: u8,
    /// Base round-trip time that converts windows and rates. Default none: the fabric's largest over the paths with
    /// fewest links, with propagation both ways and one payload per link one way (NS3 `GLOBAL_T` 1). Needed if given
    /// routes or paths take longer.
    #[schemars(transform = above("0s").or_none())]
    pub base_rtt: Option<Time>,
    /// Window at line rate. Default none: the fabric's largest bandwidth-delay product, as `base_rtt` (NS3 `GLOBAL_T` 1). If
    /// load balancing spreads packets (spray, adaptive), a switch's links to one tier count together (our choice).
    #[schemars(transform = above("0B").or_none())]
    pub window: Option<Bytes>,
}

impl Default for RdmaParams {
    fn default() -> Self {
        Self {
            ack_every: 1,
            ack_priority: None,
            acks_ignore_pause: false,
            recovery: Recovery::GoBackN,
            nack_interval: Time::us(500),
            rto: Some(Time::ms(4)),
            rto_low: Time::us(100),
            rto_low_packets: 3,
            bdp_bound: true,
            reorder_window: None,
            cnp: CnpMode::Echo,
            cnp_interval: Time::us(50),
            cnp_priority: 7,
            base_rtt: None,
            window: None,
        }
    }
}

/// Packets that receivers keep beyond the expected one; 16 bits in NACKs.
pub(crate) const REACH: u64 = u16::MAX as u64;

/// Half of the packets that receivers keep.
pub const MAX_REORDER: u32 = 32_767;

impl RdmaParams {
    /// Bytes that a receiver keeps with selective repeat.
    pub const fn most_kept(&self, payload: Bytes) -> u64 {
        REACH.saturating_mul(payload.0)
    }

    /// Reordering window in packets (docs/design/network.md, "Loss recovery"); `bdp`: the fabric's largest.
    pub fn reorder_packets(&self, balance: &Balance, bdp: Bytes, payload: Bytes) -> u32 {
        match self.reorder_window {
            Some(packets) => packets,
            None if !balance.reorders() => 0,
            None => bdp.0.div_ceil(payload.0.max(1)).saturating_sub(2).min(MAX_REORDER.into()) as u32,
        }
    }
}
