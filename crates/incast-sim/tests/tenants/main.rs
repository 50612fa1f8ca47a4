//! Guarantees of VMs: many against one, as in ElasticSwitch (SIGCOMM 2013, section 7.1), and what hypervisors do on small cases.
//!
//! Every check prints its name, what was expected and what was measured: `cargo test --test tenants -- --nocapture`.

#[allow(dead_code, unused_imports, reason = "each test program uses a part of it")]
#[path = "../common/mod.rs"]
mod common;

mod many;
mod small;
mod streams;
