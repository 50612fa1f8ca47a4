//! Part of a program's memory becomes remote: this library is preloaded into it, serves its large anonymous memory by userfaultfd
//! in pages of 4 KiB, keeps a share of them local, and puts the rest into a store that stands for the memory of another host. Every
//! page that comes back is recorded, and delayed as long as is asked for (Gao et al., "Network Requirements for Resource
//! Disaggregation", OSDI 2016, section 3, has the same instrument as a swap device).
//!
//! - [`program`] has what the program's calls for memory mean, [`desk`] takes them to the handler;
//! - [`handler`] is the thread that answers calls and page faults, and [`start`] starts it;
//! - [`heap`] says whose pages are whose, with [`space`] for those that are free;
//! - [`pager`] decides which pages are local, with them in [`list`]s;
//! - [`delays`] draws how long fetches take;
//! - [`channel`] connects to the `incast` that started the program, [`ring`] is what it records for it;
//! - [`faults`] reads page faults, [`ended`] is for programs that cannot go on;
//! - [`region`] is the memory that is served and the store behind it;
//! - [`sys`] has everything unsafe: system calls, and the functions of the C library that programs get from here.
//!
//! The handler must not touch memory of the region, and so has all it needs before there is one.

#![deny(unsafe_code)]

mod channel;
mod delays;
mod desk;
mod ended;
mod faults;
mod handler;
mod heap;
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
