//! Ways of placing the VMs of a tenant: one to a file.

mod listed;
mod random;
mod unbalanced;

pub(super) use listed::listed;
pub(super) use random::random;
pub(super) use unbalanced::unbalanced;
