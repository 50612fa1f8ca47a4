//! RDMA hosts: parameters and parts.

mod carrier;
mod classes;
mod gates;
mod params;
pub(crate) mod selective;
mod turns;

pub use carrier::Carrier;
pub use classes::{ClassBy, ClassParams};
pub(crate) use gates::{Countdown, End, Gates, Round};
pub(crate) use params::REACH;
pub use params::{CnpMode, HostParams, MAX_REORDER, NicQueue, PacketParams, RdmaParams, Recovery};
pub(crate) use turns::Turns;
