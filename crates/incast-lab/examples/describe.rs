//! Prints input for `make schema` and `make reference`: JSON schema of scenario files and catalogue, as one line of JSON.

use incast_lab::{Scenario, catalogue};
use serde_json::json;

fn main() {
    println!("{}", json!({ "schema": Scenario::schema(), "catalogue": catalogue() }));
}
