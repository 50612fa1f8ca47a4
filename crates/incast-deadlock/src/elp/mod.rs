//! Expected lossless paths (ELP; Hu et al., CoNEXT 2017).

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

/// Paths that packets should take. Packets on others may become lossy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Elp<'r> {
    /// Paths given or drawn one by one.
    Paths(PathSet),
    /// All shortest paths, or a tree per destination.
    Shortest(ShortestPaths),
    /// Up-down paths in a tiered fabric.
    UpDown(UpDown),
    /// The simulator's routes, with fixed next hops and around failures.
    Routes(&'r Routes),
}
