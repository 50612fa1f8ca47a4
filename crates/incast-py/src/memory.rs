//! Traces of remote memory.

use std::path::PathBuf;

use pyo3::prelude::*;

/// Writes what processes recorded, each into a file, as one Parquet file; gives the number of rows. An `OSError` says why that is not
/// possible.
#[pyfunction]
pub(crate) fn memory_trace(
    py: Python<'_>,
    out: PathBuf,
    start_ns: u64,
    processes: Vec<(u32, PathBuf)>,
) -> PyResult<u64> {
    py.detach(|| incast_memory_trace::write(&out, start_ns, &processes)).map_err(Into::into)
}
