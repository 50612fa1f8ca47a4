use std::path::PathBuf;

use pyo3::prelude::*;

/// Writes the records of processes, one file each, as one Parquet file; returns its rows. Raises `OSError`.
#[pyfunction]
pub(crate) fn memory_trace(
    py: Python<'_>,
    out: PathBuf,
    start_ns: u64,
    processes: Vec<(u32, PathBuf)>,
) -> PyResult<u64> {
    py.detach(|| incast_memory_trace::write(&out, start_ns, &processes)).map_err(Into::into)
}
