//! Next hops on shortest or up-down paths, and the ECMP hash.

mod distances;
mod ecmp;
mod path;
mod shortest;
#[cfg(test)]
mod tests;
mod updown;

pub use ecmp::{EcmpHash, EcmpKey, FlowKey};
pub use path::{nodes_of, path};
pub use shortest::{FixedHops, NextHopOrder, Paths, Routes};
