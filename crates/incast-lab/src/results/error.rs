//! Why there are no results.

use std::path::{Path, PathBuf};

use incast_model::nearest::hint;

use crate::diagnostic::Diagnostics;

/// Why a run gave no results, or why results cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// Something stands where the results should go.
    #[error("{} exists already; choose another folder{}", .folder.display(), overwrite_hint(*.results))]
    Exists {
        /// The folder.
        folder: PathBuf,
        /// Whether it is a results folder, which may be overwritten.
        results: bool,
    },
    /// Another run writes the same folder.
    #[error("another run is writing {}; it is never overwritten; choose another folder", .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The results cannot be written.
    #[error("cannot write {}: {why}; partial files were removed", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        why: String,
    },
    /// The simulator refuses a setup.
    #[error("{0}")]
    Setup(Diagnostics),
    /// The caller asked to stop. Nothing was written.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The simulator's own books do not balance: a fault in incast, its results are worthless.
    #[error(
        "scheme {scheme}: bytes of priorities {priorities:?} are neither delivered, dropped nor in flight; \
         this is a fault in incast, please report it with the scenario"
    )]
    Unbalanced {
        /// The scheme.
        scheme: String,
        /// The priorities concerned.
        priorities: Vec<usize>,
    },
    /// The simulator failed.
    #[error(
        "scheme {scheme}: the simulator failed: {why}; this is a fault in incast, please report it with the scenario"
    )]
    Panicked {
        /// The scheme.
        scheme: String,
        /// What it said.
        why: String,
    },
    /// No results folder.
    #[error("{} is not a results folder: {why}", .folder.display())]
    NotResults {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        why: String,
    },
    /// There is no such table.
    #[error("there is no table `{name}` (tables: {known}){}", hint(.nearest))]
    UnknownTable {
        /// The name.
        name: String,
        /// All names.
        known: String,
        /// The closest one.
        nearest: Option<String>,
    },
    /// A table has a column under its name of an earlier version.
    #[error("{}: its column `{old}` is now `{new}`: an earlier version of incast wrote it; run the scenario again", .file.display())]
    Older {
        /// The table's file.
        file: PathBuf,
        /// The column's name in it.
        old: String,
        /// The column's name now.
        new: String,
    },
    /// Files of a results folder are damaged.
    #[error("{}", lines(.0))]
    Damaged(Vec<Damage>),
}

/// A damaged file of a results folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is damaged: {why}", .file.display())]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// Kind of the damage.
    pub why: String,
}

fn lines(damage: &[Damage]) -> String {
    damage.iter().map(Damage::to_string).collect::<Vec<_>>().join("\n")
}

fn overwrite_hint(results: bool) -> &'static str {
    if results { ", or allow overwriting" } else { " (it is no results folder, so it is never overwritten)" }
}

impl ResultsError {
    pub(super) fn write(path: &Path, why: impl ToString) -> Self {
        Self::Write { path: path.to_owned(), why: why.to_string() }
    }

    pub(super) fn damaged(file: &Path, why: impl Into<String>) -> Self {
        Self::Damaged(vec![Damage { file: file.to_owned(), why: why.into() }])
    }

    /// The exit status of a program that ends with this error: 2 for what was asked for (a scenario that
    /// cannot be simulated, a folder that exists already or holds no results), 3 for files that cannot be written, 130 for an interruption, 70 for a fault in incast.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Setup(_)
            | Self::UnknownTable { .. }
            | Self::Exists { .. }
            | Self::Busy { .. }
            | Self::NotResults { .. }
            | Self::Older { .. }
            | Self::Damaged(_) => 2,
            Self::Write { .. } => 3,
            Self::Unbalanced { .. } | Self::Panicked { .. } => 70,
            Self::Interrupted => 130,
        }
    }
}
