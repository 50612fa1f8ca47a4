//! Runs the repository's scenarios, in one test program.

mod fingerprints;
mod scenarios;
