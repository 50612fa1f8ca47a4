use std::path::Path;

use super::cdf::{Part, SizeCdf};
use crate::entry::{EntryError, Place};

/// Rows of `bytes percent`, separated by blanks or a comma; skips blank lines and lines that begin with `#`.
pub(super) fn parse(text: &str, file: &Path) -> Result<SizeCdf, EntryError> {
    let mut points = Vec::new();
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let cells = cells(line);
        let place = |column| Place { file, line: index + 1, column };
        let (&(at_bytes, bytes), &(at_percent, percent)) = match cells.as_slice() {
            [bytes, percent] => (bytes, percent),
            _ => return Err(EntryError::file(&place(1), line.trim(), "two numbers, `bytes percent`")),
        };
        let number = |text: &str, column, what| match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(EntryError::file(&place(column), text, what)),
        };
        points.push((
            number(bytes, at_bytes, "a size in bytes, without a unit")?,
            number(percent, at_percent, "a cumulative percentage, 0 to 100")?,
        ));
        rows.push((index + 1, at_bytes, at_percent));
    }
    SizeCdf::from_percent(&points).map_err(|error| {
        let Some(&(line, at_bytes, at_percent)) = rows.get(error.point) else {
            return EntryError::file(&Place { file, line: 1, column: 1 }, "", "rows of `bytes percent`");
        };
        let (bytes, percent) = points[error.point];
        let (column, value) = match error.part {
            Part::Bytes => (at_bytes, bytes),
            Part::Percent => (at_percent, percent),
        };
        EntryError::file(&Place { file, line, column }, value, error.allowed)
    })
}

/// Cells with first column in characters, from 1.
fn cells(line: &str) -> Vec<(usize, &str)> {
    let blank = |c: char| c.is_whitespace() || c == ',';
    let mut cells = Vec::new();
    let mut rest = line;
    let mut column = 1;
    while let Some(begin) = rest.find(|c| !blank(c)) {
        column += rest[..begin].chars().count();
        rest = &rest[begin..];
        let end = rest.find(blank).unwrap_or(rest.len());
        cells.push((column, &rest[..end]));
        column += rest[..end].chars().count();
        rest = &rest[end..];
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        parse(text, Path::new("sizes.txt")).unwrap_err().to_string()
    }

    #[test]
    fn reads_rows_comments_and_commas() {
        let cdf = parse("# bytes percent\n0 0\n\n10000\t15\r\n200000, 60.5\n 1000000   100\n", Path::new("s")).unwrap();
        assert_eq!(cdf.points().collect::<Vec<_>>(), [(0.0, 0.0), (1e4, 0.15), (2e5, 0.605), (1e6, 1.0)]);
    }

    #[test]
    fn faults_are_located() {
        assert_eq!(why("0 0\n10 20 30\n"), "sizes.txt:2:1: `10 20 30`: must be two numbers, `bytes percent`");
        assert_eq!(why("0 0\n  10kB 20\n"), "sizes.txt:2:3: `10kB`: must be a size in bytes, without a unit");
        assert_eq!(why("0 0\n10 x\n"), "sizes.txt:2:4: `x`: must be a cumulative percentage, 0 to 100");
        assert_eq!(why("0 0\n\n10 101\n"), "sizes.txt:3:4: `101`: must be a cumulative percentage, 0 to 100");
        assert_eq!(why("0 0\n10 40\n5 100\n"), "sizes.txt:3:1: `5`: must be at least the size before it, 10 B");
        assert_eq!(why("0 0\n10 40\n"), "sizes.txt:2:4: `40`: must be 100 (percent) at the last point");
        assert_eq!(why("\n"), "sizes.txt:1:1: ``: must be rows of `bytes percent`");
    }

    #[test]
    fn a_curve_in_fractions_is_refused_not_misread() {
        assert!(why("0 0\n10 0.5\n20 1\n").contains("`1`: must be 100 (percent) at the last point"));
    }
}
