mod event;
mod kind;
mod wheel;

pub(crate) use event::{Event, MAX_ID, Target, periodic, rank};
pub(crate) use kind::{Kind, NONE, Range, flag};
pub(crate) use wheel::EventQueue;
