//! TOML: scenarios, overrides, and the files of sweeps and studies.

use std::path::Path;
use std::str::from_utf8;

use incast_lab::{Diagnostic, Diagnostics, Document, Loaded};
use incast_model::echo::is_control;
use serde_json::Value;

use crate::folder;

/// Messages are short lines without control characters, and point into the text.
fn check(found: &Diagnostics, text: &str) {
    let lines = text.matches('\n').count() + 1;
    for one in found.iter() {
        assert!(one.place.as_ref().is_none_or(|place| place.file != "s" || place.line <= lines), "{one:?}");
    }
    let shown = found.to_string();
    assert!(!shown.contains(|c| is_control(c) && c != '\n' && c != '\t'), "{shown:?}");
}

/// A written scenario reads back as an equal one.
fn survives(loaded: &Loaded) {
    let text = loaded.to_toml();
    let again = Loaded::from_text("again", &text, Path::new("."), &[]);
    let again = again.unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert_eq!(again.to_toml(), text);
}

/// A valid scenario survives writing; an error has a place.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    match Loaded::from_text("s", text, Path::new("."), &[]) {
        Ok(loaded) => survives(&loaded),
        Err(found) => check(&found, text),
    }
}

const OVERRIDDEN: &str = "[fabric.star]\nhosts = 5\n[[workload]]\nincast = { fan_in = 4, size = \"2MB\" }\n\
                          [scheme.A]\ncontrol = \"dcqcn\"\n[scheme.\"B c\"]\ntransport = \"tcp\"\n";

/// Each line is one `--set`.
pub fn overrides(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let sets: Vec<String> = text.lines().map(str::to_owned).collect();
    match Loaded::from_text("s", OVERRIDDEN, Path::new("."), &sets) {
        Ok(loaded) => survives(&loaded),
        Err(found) => check(&found, OVERRIDDEN),
    }
}

/// Values of sweeps and studies are found in the file.
pub fn document(bytes: &[u8]) {
    let folder = folder::with(&[("d.toml", bytes)]);
    let text = String::from_utf8_lossy(bytes);
    match Document::read(&folder.join("d.toml")) {
        Ok(document) => {
            for (name, value) in document.values() {
                locate(&document, &text, &quoted(name), value);
            }
        }
        Err(found) => check(&found.into(), &text),
    }
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

fn locate(document: &Document, text: &str, path: &str, value: &Value) {
    let found = document.locate(Diagnostic::new(path, "not this"));
    let lines = text.matches('\n').count() + 1;
    assert!(found.place.is_none_or(|place| place.line <= lines && place.column > 0 && place.width > 0), "{path}");
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(name, value)| locate(document, text, &format!("{path}.{}", quoted(name)), value));
        }
        Value::Array(list) => {
            (0..).zip(list).for_each(|(at, value): (u32, _)| locate(document, text, &format!("{path}[{at}]"), value));
        }
        _ => {}
    }
}
