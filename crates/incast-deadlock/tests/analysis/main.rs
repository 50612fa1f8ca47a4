//! The analysis as a whole, in one test program: linking once is quicker than linking each file.

mod common;
mod exports;
mod failures;
mod jellyfish;
mod paths;
mod random;
mod tagging;
mod testbed;
mod whole;
