//! Closed forms: formulas to the picosecond, averages within tolerances.
//!
//! Names: A one flow, B books, C queueing, D sharing, E fixed points of controls, F bursts and buffers, G PFC, H HPCC, I pauses
//! sent by nodes, L losses, N congestion isolation, O head-of-line blocking, P HPCC over PINT, Q DCQCN, S switch buffer, T
//! Tagger, loops and watchdogs, V collectives, W flows that wait.

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
