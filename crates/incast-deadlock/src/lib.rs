//! What could go wrong.
pub mod elp;
pub mod rules;
pub mod tagging;
mod threads;
mod turns;
mod wiring;
pub use turns::TurnSet;
pub use wiring::{Ports, Wiring};
