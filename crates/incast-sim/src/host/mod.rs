//! Hosts: ports, and RDMA with queue pairs, pacing, windows, acknowledgements and loss recovery.

mod classes;
mod gates;
mod nic;
mod params;
mod receiver;
pub(crate) mod reference;
pub(crate) mod selective;
mod sender;
mod stack;
mod turns;

pub use classes::{ClassBy, ClassParams};
pub(crate) use gates::{End, Gates};
pub(crate) use nic::Nic;
pub use params::{CnpMode, HostParams, NicQueue, PacketParams, RdmaParams, Recovery};
pub(crate) use receiver::Receiver;
pub(crate) use selective::Selective;
pub(crate) use sender::SendQp;
pub(crate) use stack::Transports;
pub(crate) use turns::Turns;
