//! VM guarantees: many against one, as in ElasticSwitch (SIGCOMM 2013, section 7.1).

mod many;
mod small;
mod streams;
mod windows;
