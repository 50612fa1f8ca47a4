//! Prints input for `make schema` and `make reference`: the JSON schema of scenario files and the catalogue, as one line of JSON;
//! then a line with the faults of each JSON scenario on a line of standard input.

use std::io::{self, BufRead, Write};
use std::path::Path;

use incast_lab::{Loaded, Scenario, catalogue};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", json!({ "schema": Scenario::schema(), "catalogue": catalogue() }))?;
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", faults(serde_json::from_str(&line?)?))?;
    }
    Ok(())
}

/// Refused parameters, with allowed values.
fn faults(tree: Value) -> Value {
    let found = Loaded::from_value(tree, Path::new("."), &[]).and_then(|loaded| loaded.prepare().map(drop));
    let one = |one: &incast_lab::Diagnostic| json!({ "field": one.path, "allowed": one.allowed });
    found.err().iter().flat_map(|found| found.iter()).map(one).collect()
}
