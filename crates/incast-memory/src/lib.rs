//! Preloaded library that makes part of a program's memory remote. It serves large anonymous memory by userfaultfd in 4 KiB
//! pages: a share stays local, the others move to a store that represents another host's memory. It records and delays every
//! page fetch, as the swap device of Gao et al. (OSDI 2016, section 3) does.
//!
//! The [`handler`] must not touch memory of the region: its tables are mapped before the region is served.

#![deny(unsafe_code)]

mod channel;
mod delays;
mod desk;
mod ended;
mod faults;
mod handler;
mod heap;
#[cfg(not(test))]
#[allow(unsafe_code)]
#[deny(clippy::undocumented_unsafe_blocks)]
mod hooks;
mod list;
mod pager;
#[cfg_attr(test, allow(dead_code))]
mod program;
mod region;
mod ring;
mod space;
#[cfg_attr(test, allow(dead_code))]
mod start;
#[allow(unsafe_code)]
#[deny(clippy::undocumented_unsafe_blocks)]
mod sys;
