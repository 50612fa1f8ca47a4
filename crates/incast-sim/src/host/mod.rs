//! Hosts: ports, and RDMA with queue pairs, pacing, windows, acknowledgements and loss recovery.

mod classes;
mod gates;
mod params;
pub(crate) mod selective;
mod stack;
mod turns;

pub use classes::{ClassBy, ClassParams};
pub(crate) use gates::{End, Gates};
pub use params::{CnpMode, HostParams, NicQueue, PacketParams, RdmaParams, Recovery};
pub(crate) use stack::Transports;
pub(crate) use turns::Turns;
