use serde::Serialize;
use serde_json::{Map, Value};

use crate::tree::Tree;

/// Values before profiles and defaults, and their places: `tree` has no values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(super) root: Map<String, Value>,
    pub(super) tree: Tree,
}

impl Given {
    pub(crate) fn written(&self, keys: &[&str]) -> Option<&Value> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.root.get(*first)?, |value, key| value.get(key))
    }

    /// For example `mine.toml:7`.
    pub(crate) fn place(&self, path: &str) -> Option<String> {
        self.tree.place_of(path).map(|place| match place.file.as_str() {
            "--set" => place.file,
            file => format!("{file}:{}", place.line),
        })
    }
}

pub(crate) fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}
