//! Sets of VMs with hose-model bandwidth guarantees.
//!
//! In the hose model (Duffield et al., SIGCOMM 1999) each VM has a send and a receive guarantee, as if a link of that rate
//! joined it to the tenant's own switch.

mod admission;
mod cuts;
mod entry;
mod optimum;
mod place;
mod placement;
#[cfg(test)]
mod properties;
mod spec;
mod tenancy;
#[cfg(test)]
mod tests;

pub use admission::{Admission, CutLoad, Rejected, Reserved};
pub use cuts::NoTree;
pub use optimum::{Optimum, Pair, optimum, static_split};
pub use place::place;
pub use spec::{Guarantee, Placement, TenantSpec, VmCount, VmRange};
pub use tenancy::{Tenancy, Tenant, Vm};
