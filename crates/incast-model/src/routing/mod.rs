//! Where a packet goes next: shortest-path next hops and the hash that chooses among them.

mod ecmp;
mod path;
mod shortest;
#[cfg(test)]
mod tests;

pub use ecmp::{EcmpHash, EcmpKey, FlowKey};
pub use path::{nodes_of, path};
pub use shortest::{FixedHops, MAX_ROUTES, NextHopOrder, Routes};
