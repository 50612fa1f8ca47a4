//! PFC deadlocks that a fabric and its routes permit, and rules against them: Hu et al., "Tagger: Practical PFC Deadlock
//! Prevention in Data Center Networks", CoNEXT 2017. Without simulated time.
//!
//! A folded Clos fabric with paths that may bounce once:
//!
//! ```
//! use incast_deadlock::Wiring;
//! use incast_deadlock::dependency::Dependencies;
//! use incast_deadlock::elp::{Elp, UpDown};
//! use incast_deadlock::rules::Compression;
//! use incast_deadlock::tagging::{ClosScheme, Tagging};
//! use incast_model::fabric::generators::LeafSpine;
//!
//! let fabric = LeafSpine::new(3, 2, 4).build()?;
//! let wiring = Wiring::new(&fabric);
//! let paths = Elp::UpDown(UpDown { bounces: 1 });
//!
//! // In one priority, these paths can deadlock.
//! let report = Dependencies::of_paths(&wiring, &paths)?.report(&wiring, 1, Some(&paths))?;
//! let shortest = &report.components[0].cycles[0].cycle;
//! assert_eq!(shortest.to_string(), "leaf0 port 4 → spine1 port 0 → leaf1 port 5 → spine0 port 1 → leaf0 port 4");
//!
//! // In two they cannot; rules are verified before they are returned.
//! let tagged = Tagging::Clos(ClosScheme::new(1)).rules(&wiring, &paths)?;
//! assert_eq!(tagged.rules.tags(), 2);
//! assert_eq!(tagged.rules.compress(Compression::Rectangles).most(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bits;
pub mod dependency;
pub mod elp;
pub mod export;
mod graph;
mod names;
pub mod rules;
pub mod table;
mod tag;
pub mod tagging;
mod threads;
mod turns;
pub mod verify;
mod watch;
mod wiring;

pub use names::{Cycle, NamedPath, Turn};
pub use tag::Tag;
pub use turns::TurnSet;
pub use watch::{Stage, Stopped, Watch};
pub use wiring::{Ports, Wiring};
