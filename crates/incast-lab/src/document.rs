//! TOML files other than scenarios.

use std::path::Path;

use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::text_file;
use crate::tree::{Layout, Tree};

/// TOML file with places of values.
#[derive(Debug, Clone)]
pub struct Document(Tree);

impl Document {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, Diagnostic> {
        let name = file.display().to_string();
        let tree = Tree::of_toml(&name, &text_file::read(file)?)?;
        match tree.control_characters(Layout::Allowed).into_iter().next() {
            Some(found) => Err(found),
            None => Ok(Self(tree)),
        }
    }

    /// Values of the file.
    pub const fn values(&self) -> &Map<String, Value> {
        &self.0.root
    }

    /// Adds the place of a value, or of a name if the message begins with `unknown`.
    pub fn locate(&self, diagnostic: Diagnostic) -> Diagnostic {
        self.0.locate(diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_point_at_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sweep.toml");
        std::fs::write(&file, "title = \"x\"\n[[vary]]\npath = \"seed\"\nvalues = 3\n").unwrap();
        let document = Document::read(&file).unwrap();
        assert_eq!(document.values()["vary"][0]["values"], 3);
        let found = document.locate(Diagnostic::new("vary[0].values", "3 where a list is expected"));
        let place = found.place.unwrap();
        assert_eq!((place.line, place.column, place.width), (4, 10, 1));
        let found = document.locate(Diagnostic::new("vary[0]", "unknown field `path`"));
        assert_eq!(found.place.unwrap().line, 3);
        let text = "query = \"\"\"\n\tselect 1\n\"\"\"\n\"a\\u001b[2J\" = \"x\"\n";
        std::fs::write(&file, text).unwrap();
        let found = Document::read(&file).unwrap_err();
        assert_eq!(found.message, r"the name `a\u001b[2J` has a control character, U+001B");
        assert_eq!(found.place.unwrap().line, 4);
        assert!(Document::read(&folder.path().join("none.toml")).unwrap_err().message.contains("cannot read"));
    }
}
