//! Next hops on shortest or up-down paths, and the ECMP hash.

mod ecmp;
mod links;
mod order;
mod path;
mod paths;
mod routes;
mod search;
mod table;
#[cfg(test)]
mod tests;
mod updown;

pub use ecmp::{EcmpHash, EcmpKey, FlowKey};
pub use order::NextHopOrder;
pub use path::{nodes_of, path};
pub use paths::Paths;
pub use routes::{FixedHops, Routes};
