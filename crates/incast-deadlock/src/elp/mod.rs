//! Expected lossless paths (ELP; Hu et al., CoNEXT 2017): what an operator wants to be lossless.

mod destinations;
mod error;
mod hops;
mod paths;
mod random;
mod routed;
mod shortest;
mod towards;
mod updown;

use incast_model::routing::Routes;

pub(crate) use destinations::Destinations;
pub use error::{ElpError, PathError};
pub use hops::Hops;
pub use paths::PathSet;
pub(crate) use routed::Routed;
pub(crate) use shortest::below;
pub use shortest::{Choice, Roots, ShortestPaths};
pub(crate) use towards::{Hop, Towards};
pub use updown::UpDown;
pub(crate) use updown::{State, Tiers, entries};

/// A set of paths from host to host that packets are expected to take. What leaves it may be lossy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Elp<'r> {
    /// Given one by one.
    Paths(PathSet),
    /// Shortest paths: all, or a tree for each destination.
    Shortest(ShortestPaths),
    /// Up and down a tiered fabric.
    UpDown(UpDown),
    /// Those of the simulator's routes, as they are: with given next hops, around failures.
    Routes(&'r Routes),
}
