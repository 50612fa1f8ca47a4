//! One test program: linking once is quicker.

mod arithmetic;
mod balancing;
mod clos144;
mod closed_forms;
mod common;
mod exact_vs_reference;
mod failures;
mod fingerprints;
mod guarded;
mod nic_turns;
mod observer;
mod on_threads;
mod properties;
mod reference;
mod reference_incast;
mod reference_tree;
mod snapshots;
mod support;
mod tenants;
mod transports;
mod windows;
