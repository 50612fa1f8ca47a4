//! The event kernel: order and queue of events, pool of packets. Independent of networks' behaviour.

mod event;
mod pool;
mod wheel;

pub(crate) use event::{Event, MAX_ID, Target, periodic, rank};
pub(crate) use pool::{Kind, NONE, Packet, Pool, Range, flag};
pub(crate) use wheel::EventQueue;
