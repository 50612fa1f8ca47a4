use std::path::Path;

use crate::scenario::Loaded;
use crate::warning::Warning;

/// Warnings of a scenario, `field: text`, without place and schemes.
pub(super) fn found(text: &str) -> Vec<String> {
    let loaded = Loaded::from_text("s", text, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let prepared = loaded.prepare().unwrap_or_else(|found| panic!("{found}\n{text}"));
    let line = |one: &Warning| Warning { line: None, ..one.clone() }.to_string();
    prepared.warnings().iter().map(line).collect()
}
