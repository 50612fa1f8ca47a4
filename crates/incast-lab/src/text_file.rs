use std::io::{self, Write as _};
use std::path::Path;

use incast_model::input::{self, InputError};

use crate::diagnostic::{Diagnostic, Place};

pub(crate) fn read(file: &Path) -> Result<String, Diagnostic> {
    input::read_text(file, input::DOCUMENT).map_err(|error| {
        let name = file.display().to_string();
        let mut found = Diagnostic::new("", format!("cannot read {name}: {error}"));
        if let InputError::Text { line, column, text, .. } = error {
            found.place = Some(Box::new(Place { file: name, line, column, text, width: 1 }));
        }
        found
    })
}

/// Line and column start at 1.
pub(crate) fn in_file(file: &Path, (line, column): (usize, usize), value: &str) -> Diagnostic {
    let text = input::read_text(file, input::LARGE).unwrap_or_default();
    let text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned();
    let width = value.chars().count().max(1);
    let place = Place { file: file.display().to_string(), line, column, text, width };
    let shown = if value.is_empty() { "an empty value".to_owned() } else { format!("`{value}`") };
    Diagnostic { place: Some(Box::new(place)), ..Diagnostic::new("", format!("{shown} is not possible here")) }
}

/// Replaces existing files only if `overwrite`.
pub(crate) fn write(file: &Path, text: &str, overwrite: bool) -> io::Result<()> {
    if overwrite {
        return std::fs::write(file, text);
    }
    std::fs::File::create_new(file)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_value_has_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.csv");
        std::fs::write(&file, "").unwrap();
        assert_eq!(in_file(&file, (1, 1), "").message, "an empty value is not possible here");
        assert_eq!(in_file(&file, (1, 1), "x").message, "`x` is not possible here");
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        std::fs::write(&file, b"seed = 1\ntitle = \"caf\xe9\"\n").unwrap();
        let found = read(&file).unwrap_err();
        assert!(found.message.ends_with("s.toml: not UTF-8 text: byte 0xe9 in line 2, column 13"), "{found}");
        assert!(found.to_string().contains("2 | title = \"caf\u{fffd}\"\n  |             ^"), "{found}");
        assert_eq!(
            read(Path::new("/dev/zero")).unwrap_err().message.split(": ").nth(1),
            Some("it is a character device; allowed")
        );
    }
}
