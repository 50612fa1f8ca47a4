//! Tag rules, and files of paths.

use std::str::from_utf8;
use std::sync::LazyLock;

use incast_deadlock::Wiring;
use incast_deadlock::dependency::Dependencies;
use incast_deadlock::elp::{Elp, PathSet};
use incast_deadlock::export::{read_csv, read_json, write_csv, write_json};
use incast_deadlock::rules::RuleTable;
use incast_model::fabric::Fabric;
use incast_model::fabric::generators::LeafSpine;

static FABRIC: LazyLock<Fabric> = LazyLock::new(|| LeafSpine::new(3, 2, 2).build().expect("a valid fabric"));

/// Written rules read back as the same rules, in both formats.
fn survives(wiring: &Wiring<'_>, table: &RuleTable) {
    assert_eq!(read_json(wiring, &write_json(wiring, table)).as_ref(), Ok(table));
    assert!(table.expand(wiring).is_ok());
}

/// Tag rules as JSON.
pub fn json(bytes: &[u8]) {
    let wiring = Wiring::new(&FABRIC);
    if let Ok(table) = from_utf8(bytes).map_err(drop).and_then(|text| read_json(&wiring, text).map_err(drop)) {
        survives(&wiring, &table);
    }
}

/// Tag rules as CSV.
pub fn csv(bytes: &[u8]) {
    let wiring = Wiring::new(&FABRIC);
    if let Ok(table) = from_utf8(bytes).map_err(drop).and_then(|text| read_csv(&wiring, text).map_err(drop)) {
        assert_eq!(read_csv(&wiring, &write_csv(&wiring, &table)).as_ref(), Ok(&table));
        survives(&wiring, &table);
    }
}

/// Files of paths, and the dependencies of those that are valid.
pub fn paths(bytes: &[u8]) {
    let wiring = Wiring::new(&FABRIC);
    if let Ok(paths) = from_utf8(bytes).map_err(drop).and_then(|text| PathSet::parse(&wiring, text).map_err(drop)) {
        let paths = Elp::Paths(paths);
        if let Ok(found) = Dependencies::of_paths(&wiring, &paths) {
            let _ = found.report(&wiring, 1, Some(&paths));
        }
    }
}
