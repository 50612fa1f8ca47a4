//! Reads the tables of `tests/facts`: comma-separated whole numbers, `#` before comments, a line of column names.

/// The rows of a table whose columns must have these names.
pub(crate) fn rows<const N: usize>(text: &str, columns: [&str; N]) -> Vec<[u64; N]> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next().expect("a line of column names").split(',').collect::<Vec<_>>(), columns);
    let number = |field: &str| field.parse().unwrap_or_else(|_| panic!("`{field}` is no number"));
    lines
        .map(|line| {
            let fields: Vec<u64> = line.split(',').map(number).collect();
            fields.try_into().unwrap_or_else(|_| panic!("`{line}` has not {N} columns"))
        })
        .collect()
}
