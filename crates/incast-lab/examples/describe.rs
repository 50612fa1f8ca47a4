//! Prints input for `make schema` and `make reference`: schema of scenario files and catalogue, as a line of JSON.

use incast_lab::{Scenario, catalogue};
use serde_json::json;

fn main() {
    println!("{}", json!({ "schema": Scenario::schema(), "catalogue": catalogue() }));
}
