//! One test program links faster than one per file.

mod common;
mod exports;
mod failures;
mod jellyfish;
mod paths;
mod random;
mod tagging;
mod testbed;
mod whole;
