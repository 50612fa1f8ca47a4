//! Tags against cyclic buffer dependencies: Tagger (Hu et al., CoNEXT 2017).

mod clos;
mod complete;
mod greedy;
mod order;
mod placement;
mod tagged;

pub use clos::{ClosError, ClosScheme};
pub use greedy::{Greedy, Injection, Order};
pub use placement::{Placement, TagError};
pub use tagged::{Tagged, Tagging, TaggingError};
