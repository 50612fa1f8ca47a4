use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rng::mix;

/// Hash of a packet's addresses and ports that picks one of several equal-cost next hops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcmpHash {
    /// SplitMix64 over the flow's key, salted by switch and seed (our choice).
    #[default]
    Mix64,
    /// MurmurHash3_x86_32 over source address, destination address and both ports, seeded by the switch's node id
    /// (`switch-node.cc`, EcmpHash of the HPCC authors' ns-3).
    Murmur3,
}

/// Header fields that ECMP hashes: IPv4 addresses and UDP ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowKey {
    /// Source address.
    pub sip: u32,
    /// Destination address.
    pub dip: u32,
    /// Source port (low half) and destination port.
    pub ports: u32,
}

impl FlowKey {
    /// Key of packets between two nodes, with ns-3's addresses 11.x.y.1, x.y the node id.
    pub const fn new(src_node: u32, dst_node: u32, sport: u16, dport: u16) -> Self {
        Self { sip: address(src_node), dip: address(dst_node), ports: sport as u32 | (dport as u32) << 16 }
    }

    /// Key of the opposite direction.
    pub const fn reversed(self) -> Self {
        Self { sip: self.dip, dip: self.sip, ports: self.ports.rotate_left(16) }
    }
}

const fn address(node: u32) -> u32 {
    0x0b00_0001 + (node / 256) * 0x1_0000 + (node % 256) * 0x100
}

/// A flow's hash part, equal at all switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EcmpKey {
    a: u64,
    b: u32,
}

impl EcmpHash {
    /// Hash of a flow at a switch; the next hop is this modulo their number.
    pub fn hash(self, key: FlowKey, switch_node: u32, seed: u64) -> u32 {
        self.hash_prepared(self.prepare(key), self.salt(switch_node, seed))
    }

    /// Hash part equal at all switches.
    pub fn prepare(self, key: FlowKey) -> EcmpKey {
        match self {
            Self::Murmur3 => {
                let [a, b, c] = [key.sip, key.dip, key.ports].map(murmur3_word);
                EcmpKey { a: u64::from(a) | u64::from(b) << 32, b: c }
            }
            Self::Mix64 => {
                EcmpKey { a: mix(u64::from(key.sip) << 32 | u64::from(key.dip)) ^ u64::from(key.ports), b: 0 }
            }
        }
    }

    /// Hash part equal for all flows at a switch.
    pub const fn salt(self, switch_node: u32, seed: u64) -> u64 {
        match self {
            Self::Murmur3 => switch_node as u64,
            Self::Mix64 => mix(seed ^ (switch_node as u64) << 32),
        }
    }

    /// [`EcmpHash::hash`] of both parts.
    #[inline]
    pub fn hash_prepared(self, key: EcmpKey, salt: u64) -> u32 {
        match self {
            Self::Murmur3 => murmur3_finish([key.a as u32, (key.a >> 32) as u32, key.b], salt as u32),
            Self::Mix64 => (mix(key.a ^ salt) >> 32) as u32,
        }
    }
}

const fn murmur3_word(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

const fn murmur3_finish(words: [u32; 3], seed: u32) -> u32 {
    let mut h = seed;
    let mut i = 0;
    while i < 3 {
        h = (h ^ words[i]).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
        i += 1;
    }
    h ^= 12;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}
