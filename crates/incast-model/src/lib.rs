//! Inputs of the simulator: units, fabrics, routes and workloads.

pub mod caught;
pub mod echo;
pub mod entry;
pub mod fabric;
pub mod field;
pub mod flow;
pub mod foreign;
pub mod gates;
pub mod input;
pub mod maxmin;
pub mod memory;
pub mod nearest;
pub mod ns3;
pub mod parquet_headers;
pub mod range;
pub mod renamed;
pub mod rng;
pub mod routing;
pub mod tenant;
pub mod units;
pub mod workload;
