//! What could go wrong.
pub mod dependency;
pub mod elp;
pub mod export;
pub mod rules;
pub mod table;
pub mod tagging;
pub mod verify;
mod names;
mod threads;
mod turns;
mod wiring;
pub use names::{Cycle, NamedPath, Turn};
pub use turns::TurnSet;
pub use wiring::{Ports, Wiring};
