//! Records of `incast memory`.

use crate::folder;

/// Bytes of a record.
const RECORD: usize = 32;

/// Files of whole records are written as Parquet; others are refused.
pub fn records(bytes: &[u8]) {
    let folder = folder::with(&[("records", bytes)]);
    let [records, out] = ["records", "trace.parquet"].map(|name| folder.join(name));
    let written = incast_memory_trace::write(&out, 0, &[(1, records)]);
    match bytes.len() % RECORD {
        0 => assert_eq!(written.expect("whole records"), (bytes.len() / RECORD) as u64),
        _ => assert!(written.is_err()),
    }
}
