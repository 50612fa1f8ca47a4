//! The simulator against closed forms: what a formula gives exactly must come out to the picosecond, what a theory gives
//! on average within the tolerance written beside it.
//!
//! Every check prints its name, what was expected and what was measured: `cargo test -p incast-sim --test simulation closed_forms -- --nocapture`.
//! Names: A one flow, B books, C queueing, D sharing, E fixed points of controls, F bursts and buffers, G PFC, Q DCQCN,
//! H HPCC, I pauses that nodes send by themselves, K work done, T Tagger, loops and watchdogs, L losses, N congestion isolation, O head-of-line blocking, P HPCC over PINT, S the switch's buffer, V collectives, W flows that wait. Not here, because
//! nothing in the simulator does it yet: cut-through, token buckets, TCP, credits, pause timers. The generators' loads, gaps
//! and sizes are tested with them
//! (`incast-model`), alpha's decay step by step with DCQCN (`congestion/dcqcn.rs`), and the buffer's books at every
//! packet with the buffer (`switch/buffer.rs`).

mod blocking;
mod books;
mod bounces;
mod bursts;
mod collectives;
mod dcqcn;
mod dcqcn_fixed_point;
mod dctcp;
mod deadlock;
mod delay;
mod gates;
mod holds;
mod hpcc;
mod isolation;
mod isolation_times;
mod losses;
mod pfc;
mod pint;
mod priorities;
mod queueing;
mod sharing;
mod single;
mod timely;
