//! Guarantees of VMs: many against one, as in ElasticSwitch (SIGCOMM 2013, section 7.1), and what hypervisors do on small cases.
//!
//! Every check prints its name, what was expected and what was measured: `cargo test -p incast-sim --test simulation tenants -- --nocapture`.

mod many;
mod small;
mod streams;
