//! The published table of Tagger's classes and rules on Jellyfish, and rows of ours.

use incast_deadlock::table::{CONVENTIONS, Convention, PUBLISHED, Published, Row};
use incast_model::nearest::{hint, nearest};
use serde::Serialize;

use super::option;
use crate::diagnostic::Diagnostics;

/// What is known of the table before anything is computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableFacts {
    /// The published rows.
    pub published: Vec<Published>,
    /// Names of the conventions by which it can be read.
    pub conventions: Vec<&'static str>,
}

/// The published rows and the conventions.
pub fn table_facts() -> TableFacts {
    TableFacts { published: PUBLISHED.to_vec(), conventions: CONVENTIONS.iter().map(|one| one.name).collect() }
}

/// One row of ours, by the convention of a name, on a Jellyfish drawn by a seed.
pub fn table_row(convention: &str, switches: u32, ports: u32, seed: u64) -> Result<Row, Diagnostics> {
    let names = || CONVENTIONS.iter().map(|one| one.name);
    let Some(found) = Convention::by_name(convention) else {
        let known = names().collect::<Vec<_>>().join(", ");
        let message = format!("no convention `{convention}`; allowed: {known}{}", hint(&nearest(convention, names())));
        return Err(option("convention", message));
    };
    let row = found.row(switches, ports, seed, &mut |_| ());
    row.map_err(|error| option("size", format!("{switches} switches of {ports} ports: {error}")))
}
