//! VM guarantees: many against one, as in ElasticSwitch (SIGCOMM 2013, section 7.1), and hypervisors in small cases.
//!
//! Checks print expected and measured values: `cargo test -p incast-sim --test simulation tenants -- --nocapture`.

mod many;
mod small;
mod streams;
