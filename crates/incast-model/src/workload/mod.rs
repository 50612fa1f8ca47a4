//! [`generate()`] builds a [`FlowSet`](crate::flow::FlowSet) from [`WorkloadSpec`]s, each with one pattern.

mod all_to_all;
mod arrivals;
mod backlog;
mod cdf;
mod cdf_file;
mod collective;
mod describe;
mod disaggregated;
mod entry;
mod generate;
mod hosts;
mod htsim;
mod incast;
mod law;
mod list;
mod locality;
mod members;
mod moe;
mod normal;
mod ns3;
mod offer;
mod offered;
mod permutation;
mod poisson;
mod ranks;
mod request_response;
mod ring;
mod shuffle;
mod sizes;
mod spec;
mod table_file;
mod tables;
#[cfg(test)]
mod testing;
mod trace;
mod tree;
mod waits;

pub use all_to_all::AllToAll;
pub use arrivals::{ArrivalLaw, LoadOf, LognormalArrivals};
pub use backlog::MessageSize;
pub use cdf::SizeCdf;
pub use describe::{Described, DescribedKind, DescribedSizes, catalogue};
pub use disaggregated::{Application, BladeScale, Disaggregated};
pub use generate::{WorkloadWarning, generate, generate_with, warnings};
pub use hosts::{HostRange, HostSet, HostSetError};
pub use htsim::Htsim;
pub use incast::Incast;
pub use law::SizeLaw;
pub use list::ListedFlow;
pub use locality::{LoadAt, Locality};
pub use moe::{MoeAllToAll, Skew};
pub use ns3::Ns3;
pub use offered::{Direction, Links, OfferedLoad, offered, overload};
pub use permutation::Permutation;
pub use poisson::Poisson;
pub use ranks::{RankOrder, Ranks};
pub use request_response::{RequestResponse, ThinkTime};
pub use ring::{RingAllReduce, RingPart};
pub use shuffle::Shuffle;
pub use sizes::{
    CustomSizes, GeneralizedParetoSizes, LognormalSizes, ParetoSizes, SizeSpec, SizeSpecError, UniformSizes,
};
pub use spec::WorkloadSpec;
pub use tables::SizeTable;
pub use trace::{Trace, check_trace, write_trace};
pub use tree::{TreeAlgorithm, TreeAllReduce};
