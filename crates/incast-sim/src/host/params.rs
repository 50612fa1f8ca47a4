//! Parameters of packets and of the RDMA host.
//!
//! NS3 in the sources below is the HPCC authors' ns-3 (`rdma-hw.cc`, `qbb-header.cc`, `pause-header.cc` at commit
//! 9f4be2a), YAPS the simulator of pHost's authors (NetSys/simulator at commit 8e9cf04).

use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ClassParams;
use crate::congestion::Telemetry;
use crate::kernel::flag;
use crate::setup::Carrier;

/// Sizes on the wire. The defaults are those of the HPCC evaluation; the profile `rocev2` has what a real RoCEv2 wire
/// carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketParams {
    /// Payload of a full data packet. Default 1000B (NS3 `PACKET_PAYLOAD_SIZE`).
    pub payload: Bytes,
    /// Headers of a data packet without INT. Default 48B: Ethernet 14, IPv4 20, UDP 8, sequence and class 6 (NS3).
    pub data_header: Bytes,
    /// An ACK or NACK without INT. Default 46B: Ethernet 14, IPv4 20, ports, flags, class and sequence 12 (NS3).
    pub ack: Bytes,
    /// ACKs are padded to this. Default 60B (NS3).
    pub min_ack: Bytes,
    /// A congestion notification packet. Default 64B (our choice: the smallest Ethernet frame).
    pub cnp: Bytes,
    /// A PFC frame. Default 64B (IEEE 802.3 annex 31B); NS3 has 43B.
    pub pfc: Bytes,
    /// A time stamp, for controls that measure round trips. Default 8B (NS3 `int-header.h`).
    pub timestamp: Bytes,
    /// A PINT header. Default 2B (NS3 `int-header.h`: the size of its 16-bit field, whatever the base).
    pub pint: Bytes,
    /// INT header without its records. Default 2B (HPCC, SIGCOMM 2019, section 4).
    pub int_base: Bytes,
    /// One INT record. Default 8B (HPCC, SIGCOMM 2019, section 4).
    pub int_record: Bytes,
    /// Records that every INT header has room for, whatever the path. Default 5 (NS3 `int-header.h`).
    pub int_records: u8,
    /// Payload of a full segment of a transport other than RDMA. Default 1460B (TCP on Ethernet; YAPS).
    pub mss: Bytes,
    /// Headers of a segment. Default 40B: IPv4 20, TCP 20 (YAPS).
    pub segment_header: Bytes,
    /// What else such transports send: acknowledgements, handshakes, announcements, tokens, requests, schedules. Default 40B
    /// (YAPS).
    pub control: Bytes,
    /// Preamble and gap between frames: keeps the port busy after a packet, is in no counter. Default 0B (NS3); Ethernet has 20B.
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
    /// Names of the profiles, with what they are.
    pub const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("hpcc", "the HPCC evaluation's packets: 1000 B payload, 48 B headers, no gap between frames (the default)"),
        ("rocev2", "RoCEv2 on Ethernet: 1024 B payload, 62 B headers with ICRC and FCS, 20 B preamble and gap"),
    ];

    /// A profile by name.
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

    /// Wire bytes of the largest data packet that `carriers` send, with room for INT where RDMA is among them.
    pub fn largest(&self, carriers: &[Carrier]) -> u64 {
        let size = |carrier: &Carrier| match carrier {
            Carrier::Rdma(_) => self.data_header.0 + self.payload.0 + self.telemetry_bytes(Telemetry::Int),
            Carrier::Transport(_) => self.segment_header.0 + self.mss.0,
        };
        carriers.iter().map(size).max().unwrap_or(0)
    }

    /// Wire bytes of a data packet with these [`flag`] bits.
    #[inline]
    pub(crate) const fn data_size(&self, payload: u64, flags: u8) -> u64 {
        self.data_header.0 + payload + self.telemetry(flags)
    }

    /// Bytes that telemetry adds to data packets and to ACKs.
    pub const fn telemetry_bytes(&self, telemetry: Telemetry) -> u64 {
        match telemetry {
            Telemetry::None => 0,
            Telemetry::Timestamp => self.timestamp.0,
            Telemetry::Pint => self.pint.0,
            Telemetry::Int => self.int_base.0 + self.int_record.0 * self.int_records as u64,
        }
    }

    /// The same for a packet by its [`flag`] bits.
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

/// Where a host keeps packets of transports other than RDMA before they leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NicQueue {
    /// In a queue in the order of those of switch ports, without a limit: what the host itself sends is not dropped there.
    #[default]
    Unlimited,
    /// In a queue like those of switch ports, limit and all, where these have one (YAPS): a burst can be lost at its own host.
    Port,
}

/// What all transports of a host share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostParams {
    /// Where packets of transports other than RDMA wait for the host's port. (RDMA's data waits in queue pairs.) Default
    /// unlimited (our choice: hosts hold their own packets back).
    pub nic_queue: NicQueue,
    /// Up to so much later than it would a packet comes from a host, and again from the server of a VM, to the next node: a random time
    /// for each, uniform; packets keep their order. At most 1ms. Default 0 (NS3, YAPS). With links of one rate, packets of one size and
    /// drop-tail queues, one flow can lock others out as none would between real hosts; the time of a packet on the slowest link avoids
    /// it (Floyd and Jacobson, CCR 1991).
    pub jitter: Time,
    /// Priorities of short and of long flows. Default those of the workload (the HPCC evaluation).
    pub classes: ClassParams,
}

/// How a receiver tells the sender of an ECN mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CnpMode {
    /// A bit in the ACK of the marked packet (NS3).
    #[default]
    Echo,
    /// A CNP of its own, at most one per flow and `cnp_interval` (DCQCN, SIGCOMM 2015, section 3.2).
    Packet,
}

/// What becomes of a packet that comes before one that should have come earlier, and what is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Receivers discard it; senders go back and send all again from the first packet missing (NS3; InfiniBand and RoCEv2
    /// NICs).
    #[default]
    GoBackN,
    /// Receivers keep it and say so; senders send again only what is lost (IRN: Mittal et al., SIGCOMM 2018, section 3.1).
    SelectiveRepeat,
}

/// The RDMA host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RdmaParams {
    /// An ACK for every so many packets, and for the last of a message. Default 1 (NS3 `L2_ACK_INTERVAL`). Windows are
    /// never smaller than this many packets: there is no ACK timer that would answer fewer.
    pub ack_every: u32,
    /// Priority of ACKs and NACKs, 1 to 7. Default none: that of the data they answer (NS3).
    pub ack_priority: Option<u8>,
    /// A paused host goes on sending ACKs of the paused priority; this can overflow headroom. Default false (NS3 of
    /// schemes with a window; of the others `ACK_HIGH_PRIO` is 1).
    pub acks_ignore_pause: bool,
    /// How losses are recovered. Default go-back-n (NS3).
    pub recovery: Recovery,
    /// With go-back-n a receiver answers out-of-order data with a NACK at most once per this time for the same expected
    /// byte. Default 500us (NS3).
    pub nack_interval: Time,
    /// Without an ACK for this long a sender goes back to the first unacknowledged byte; absent: never (NS3). Default 4ms
    /// (our choice: longer than any queue of a 32 MiB buffer at 100 Gb/s). IRN's RTO_high is 320us at 40 Gb/s.
    pub rto: Option<Time>,
    /// With selective-repeat: the timeout that holds instead while few packets are in flight, where a sender cannot count on
    /// NACKs; at most `rto`, and off with it. Default 100us (IRN, SIGCOMM 2018, section 4.1: RTO_low).
    pub rto_low: Time,
    /// With selective-repeat: how many packets in flight are few. Default 3 (IRN, section 4.1: N).
    pub rto_low_packets: u32,
    /// With selective-repeat: a sender has at most the largest bandwidth-delay product of the fabric in flight, whatever its
    /// control allows. Default true (IRN, section 3.2: BDP-FC).
    pub bdp_bound: bool,
    /// With selective-repeat: a packet is taken as lost when one sent more than so many packets after it has come. Default 0
    /// (IRN): any packet that overtakes another is a loss. More where packets of a flow take several paths. At most 32767.
    pub reorder_window: u32,
    /// How marks come back. Default echo (NS3).
    pub cnp: CnpMode,
    /// Least time between CNPs of one flow. Default 50us (DCQCN, SIGCOMM 2015, section 5).
    pub cnp_interval: Time,
    /// Priority of CNPs, a lossy class of their own. Default 7 (our choice).
    pub cnp_priority: u8,
    /// Base round-trip time that controls convert windows and rates by. Default none: the largest of the fabric, both ways'
    /// propagation and a payload serialised per link one way (NS3 `GLOBAL_T` 1).
    pub base_rtt: Option<Time>,
    /// Window at line rate. Default none: the largest bandwidth-delay product of the fabric (NS3 `GLOBAL_T` 1).
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
            reorder_window: 0,
            cnp: CnpMode::Echo,
            cnp_interval: Time::us(50),
            cnp_priority: 7,
            base_rtt: None,
            window: None,
        }
    }
}
