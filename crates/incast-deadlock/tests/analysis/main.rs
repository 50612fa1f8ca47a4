//! One test program, as it links faster than one for each file.

mod common;
mod exports;
mod failures;
mod jellyfish;
mod paths;
mod random;
mod tagging;
mod testbed;
mod whole;
