//! Tenants of a cloud: sets of VMs with bandwidth guarantees by the hose model, and where their VMs are placed.
//!
//! In the hose model (Duffield et al., SIGCOMM 1999) each VM of a tenant has a guarantee for what it sends and one for what it
//! receives, as if a link of that rate joined it to a switch of the tenant's own.

mod admission;
mod cuts;
mod entry;
mod error;
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
pub use error::TenantError;
pub use optimum::{Optimum, Pair, optimum, static_split};
pub use place::place;
pub use spec::{Guarantee, Placement, TenantSpec, VmCount, VmRange};
pub use tenancy::{Tenancy, Tenant, Vm};
