//! Tagger's published table on Jellyfish, and computed rows.

use incast_deadlock::table::{CONVENTIONS, Convention, PUBLISHED, Published, Row};
use incast_model::nearest::{hint, nearest};
use serde::Serialize;

use super::option;
use crate::diagnostic::Diagnostics;

/// Published rows and conventions of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableFacts {
    /// Published rows.
    pub published: Vec<Published>,
    /// Names of the conventions for reading the table.
    pub conventions: Vec<&'static str>,
}

/// Published rows and conventions.
pub fn table_facts() -> TableFacts {
    TableFacts { published: PUBLISHED.to_vec(), conventions: CONVENTIONS.iter().map(|one| one.name).collect() }
}

/// Computes a row by a named convention.
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
