//! The event kernel: the order of events, the queue that keeps it, and the pool of packets. It knows nothing of what
//! networks do.

mod event;
mod pool;
mod wheel;

pub(crate) use event::{Event, MAX_ID, Target, chore, rank};
pub(crate) use pool::{Kind, NONE, Packet, Pool, flag};
pub(crate) use wheel::EventQueue;
