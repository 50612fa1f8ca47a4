//! Events, kinds of packets, numbers as types.

mod event;
mod id_vec;
mod ids;
mod kind;
mod prefetch;
mod wheel;
mod word;

pub(crate) use event::{Event, MAX_ID, Target, periodic, rank};
pub(crate) use id_vec::{Id, IdVec, indices};
pub(crate) use ids::{BlockId, FlowId, Line, LocalPort, Member, PacketId, PairId, ReceivedId, SentId};
pub(crate) use kind::{Kind, NONE, Range, flag};
pub(crate) use prefetch::prefetch;
pub(crate) use wheel::EventQueue;
pub(crate) use word::Word;
