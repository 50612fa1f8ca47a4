//! Python binding of incast: extension module `incast._core`.
//!
//! It converts and never decides. Structured data (scenarios, catalogue, manifests, progress) crosses as JSON text. Tables
//! cross as Arrow C streams: any frame library reads them without copy and without a dependency of ours.
//! `python/incast/_core.pyi` has the types.

use pyo3::prelude::*;

mod allocator;
mod cells;
mod document;
mod errors;
mod facade;
mod memory;
mod results;
mod run;
mod scenario;
mod slowdown;
mod table;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// The compiled part of incast; use the package `incast` instead.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("__build__", incast_lab::BUILD)?;
    module.add("DOCUMENT", incast_lab::input::DOCUMENT)?;
    module.add("LARGE", incast_lab::input::LARGE)?;
    module.add("Fault", module.py().get_type::<errors::Fault>())?;
    module.add_class::<document::Document>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<results::Folder>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(memory::memory_trace, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(results::results_catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(results::slowdown_columns, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::renamed, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::import_ns3, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::tagger_facts, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::tagger_row, module)?)?;
    Ok(())
}
