//! Prints input for `make schema` and `make reference`: JSON schema of scenario files and catalogue, as one line of JSON; then,
//! for each scenario on standard input (a line of JSON), a line with its faults.

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

fn faults(tree: Value) -> Value {
    let found = Loaded::from_value(tree, Path::new("."), &[]).and_then(|loaded| loaded.prepare().map(drop));
    let one = |one: &incast_lab::Diagnostic| json!({ "field": one.path, "allowed": one.allowed });
    found.err().iter().flat_map(|found| found.iter()).map(one).collect()
}
