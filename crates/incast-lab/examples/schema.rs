//! Prints the JSON schema of scenario files, from which `make schema` writes the Python classes.

fn main() {
    println!("{}", incast_lab::Scenario::schema().to_value());
}
