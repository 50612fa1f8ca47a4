//! The scenarios of the repository, run whole, in one test program.

mod fingerprints;
mod scenarios;
