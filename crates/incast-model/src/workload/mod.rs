//! Generators and readers of flows.
//!
//! A scenario lists [`WorkloadSpec`]s: each has one pattern and what its flows have in common. [`generate()`] makes one
//! sorted [`FlowSet`](crate::flow::FlowSet) of them all. How large flows are is a [`SizeSpec`]: a published table, one
//! size, or a distribution of the user's own.

mod arrivals;
mod cdf;
mod cdf_file;
mod describe;
mod entry;
mod error;
mod generate;
mod hosts;
mod incast;
mod law;
mod list;
mod locality;
mod normal;
mod ns3;
mod permutation;
mod poisson;
mod sizes;
mod spec;
mod tables;
#[cfg(test)]
mod testing;
mod trace;

pub use arrivals::{ArrivalLaw, LoadOf, LognormalArrivals};
pub use cdf::SizeCdf;
pub use describe::{Described, DescribedKind, DescribedSizes, catalogue};
pub use error::WorkloadError;
pub use generate::{WorkloadWarning, generate, warnings};
pub use hosts::{HostRange, HostSet, HostSetError};
pub use incast::Incast;
pub use law::SizeLaw;
pub use list::ListedFlow;
pub use locality::{LoadAt, Locality};
pub use ns3::Ns3;
pub use permutation::Permutation;
pub use poisson::Poisson;
pub use sizes::{
    CustomSizes, GeneralizedParetoSizes, LognormalSizes, ParetoSizes, SizeSpec, SizeSpecError, UniformSizes,
};
pub use spec::WorkloadSpec;
pub use tables::SizeTable;
pub use trace::{Trace, write_trace};
