//! The RDMA host: queue pairs, pacing, windows, acknowledgements and loss recovery.

mod params;

pub use params::{CnpMode, PacketParams, RdmaParams};
