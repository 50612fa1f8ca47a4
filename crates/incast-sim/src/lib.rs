//! Event-driven, packet-level simulation of switches and of hosts with RDMA and other transports.
//!
//! [`Setup::checked`] checks fabric, flows and parameters; [`Simulation::run`] returns an [`Outcome`].
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use incast_model::fabric::generators::Star;
//! use incast_model::units::Time;
//! use incast_model::workload::{Incast, WorkloadSpec, generate};
//! use incast_sim::congestion::{Control, WindowMode};
//! use incast_sim::outcome::Stop;
//! use incast_sim::{Carrier, ControlSetup, Params, Setup, Simulation};
//!
//! // Incast under HPCC: 16 hosts send 500 kB each to one, at one time, through one switch.
//! let fabric = Arc::new(Star::new(17).build()?);
//! let incast = Incast {
//!     fan_in: 16,
//!     size: "500kB".parse()?,
//!     receiver: Some(16),
//!     at: Some(Time::ZERO),
//!     every: None,
//!     load: None,
//!     duration: None,
//!     hosts: None,
//! };
//! let workload = [WorkloadSpec { incast: Some(incast), ..WorkloadSpec::default() }];
//! let flows = Arc::new(generate(&workload, &fabric, Path::new("."), 1, None)?);
//! let hpcc = Control::named("hpcc", "ns3").expect("a control and a profile of it");
//! let setup = Setup {
//!     transports: Vec::new(),
//!     carriers: vec![Carrier::Rdma(0); flows.labels.len()],
//!     tenancy: None,
//!     tags: None,
//!     controls: vec![ControlSetup { control: hpcc, window: WindowMode::Rate }],
//!     fabric,
//!     flows,
//!     params: Params::default(),
//! };
//!
//! let outcome = Simulation::new(setup.checked()?)?.run(&mut |_| ControlFlow::Continue(()));
//! assert_eq!(outcome.stop, Stop::Finished);
//! for flow in &outcome.flows {
//!     let fct = flow.fct().expect("it finished");
//!     assert!(fct >= flow.ideal_exact);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod declared;

pub mod balance;
mod check;
pub mod congestion;
mod deadlock;
mod guards;
pub mod host;
mod kernel;
mod marking;
pub mod measure;
pub mod network;
mod nodes;
mod ns3;
pub mod outcome;
mod plan;
mod progress;
pub mod setup;
pub mod simulation;
pub mod switch;
pub mod tenant;
pub mod transport;
mod valid;

pub use host::Carrier;
pub use incast_model::flow::MAX_TIME;
pub use nodes::Cut;
pub use outcome::Outcome;
pub use plan::{BufferPlan, PortPlan, Uncut};
pub use progress::Progress;
pub use setup::{Arithmetic, ControlSetup, Params, Setup};
pub use simulation::Simulation;
pub use valid::ValidSetup;
