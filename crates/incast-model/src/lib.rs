//! What is described: units, fabrics, routes and workloads. Nothing in this crate knows simulated time passing.
//!
//! A [`Fabric`](fabric::Fabric) is a graph of hosts and switches with ports in a stable order; [`Routes`](routing::Routes)
//! are computed from it; a [`FlowSet`](flow::FlowSet) is what the hosts will send. The simulator takes these three.

pub mod caught;
pub mod echo;
pub mod fabric;
pub mod flow;
pub mod gates;
pub mod input;
pub mod maxmin;
pub mod memory;
pub mod nearest;
pub mod ns3;
pub mod renamed;
pub mod rng;
pub mod routing;
pub mod tenant;
pub mod units;
pub mod workload;
