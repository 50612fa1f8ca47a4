//! Tables in `facts`: comma-separated whole numbers, `#` before comments.

pub(crate) fn rows<const N: usize>(text: &str, columns: [&str; N]) -> Vec<[u64; N]> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next().expect("a line of column names").split(',').collect::<Vec<_>>(), columns);
    lines.map(|line| numbers(&line.split(',').collect::<Vec<_>>())).collect()
}

pub(crate) fn numbers<const N: usize>(fields: &[&str]) -> [u64; N] {
    let number = |field: &&str| field.parse().unwrap_or_else(|_| panic!("`{field}` is no number"));
    let numbers: Vec<u64> = fields.iter().map(number).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("`{fields:?}` has not {N} numbers"))
}
