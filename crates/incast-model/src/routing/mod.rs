//! Next hops on shortest or up-down paths, and the ECMP hash.

mod columns;
mod distances;
mod ecmp;
mod order;
mod path;
mod shortest;
#[cfg(test)]
mod tests;
mod updown;

pub use ecmp::{EcmpHash, EcmpKey, FlowKey};
pub use order::NextHopOrder;
pub use path::{nodes_of, path};
pub use shortest::{FixedHops, Paths, Routes};
