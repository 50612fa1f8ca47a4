/// Transport of a group of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// RDMA; an index into [`crate::Setup::controls`].
    Rdma(usize),
    /// Other; an index into [`crate::Setup::transports`].
    Transport(usize),
}
