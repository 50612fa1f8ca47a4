//! Where a packet goes next: shortest-path next hops and the hash that chooses among them.

mod ecmp;
mod shortest;

pub use ecmp::{EcmpHash, EcmpKey, FlowKey};
pub use shortest::{NextHopOrder, Routes};
