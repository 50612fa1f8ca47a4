//! Text files that a user asked for.

use std::io::{self, Write as _};
use std::path::Path;

/// Writes a file; one that exists is replaced only if `overwrite`.
pub(crate) fn write(file: &Path, text: &str, overwrite: bool) -> io::Result<()> {
    if overwrite {
        return std::fs::write(file, text);
    }
    std::fs::File::create_new(file)?.write_all(text.as_bytes())
}
