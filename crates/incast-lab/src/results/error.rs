use std::path::{Path, PathBuf};

use incast_model::nearest::hint;

use crate::diagnostic::Diagnostics;

/// Error of a run or of reading results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The target exists.
    #[error("{} exists already; choose another folder{}", .folder.display(), overwrite_hint(*.results))]
    Exists {
        /// Folder.
        folder: PathBuf,
        /// True if it holds results, which may be overwritten.
        results: bool,
    },
    /// Another run writes the same folder.
    #[error("another run is writing {}; it is never overwritten; choose another folder", .folder.display())]
    Busy {
        /// Folder.
        folder: PathBuf,
    },
    /// Results cannot be written.
    #[error("cannot write {}: {why}; partial files were removed", .path.display())]
    Write {
        /// File or folder.
        path: PathBuf,
        /// Message of the operating system.
        why: String,
    },
    /// The simulator refuses a setup.
    #[error("{0}")]
    Setup(Diagnostics),
    /// The caller asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Unbalanced byte counts: a fault in incast; results are worthless.
    #[error(
        "scheme {scheme}: bytes of priorities {priorities:?} are neither delivered, dropped nor in flight; \
         this is a fault in incast, please report it with the scenario"
    )]
    Unbalanced {
        /// Scheme.
        scheme: String,
        /// Unbalanced priorities.
        priorities: Vec<usize>,
    },
    /// The simulator panicked.
    #[error(
        "scheme {scheme}: the simulator failed: {why}; this is a fault in incast, please report it with the scenario"
    )]
    Panicked {
        /// Scheme.
        scheme: String,
        /// Panic message.
        why: String,
    },
    /// Not a results folder.
    #[error("{} is not a results folder: {why}", .folder.display())]
    NotResults {
        /// Folder.
        folder: PathBuf,
        /// Reason.
        why: String,
    },
    /// Unknown table.
    #[error("there is no table `{name}` (tables: {known}){}", hint(.nearest))]
    UnknownTable {
        /// Name.
        name: String,
        /// Known names.
        known: String,
        /// Closest name.
        nearest: Option<String>,
    },
    /// A column has its name of an earlier version.
    #[error("{}: its column `{old}` is now `{new}`: an earlier version of incast wrote it; run the scenario again", .file.display())]
    Older {
        /// Table's file.
        file: PathBuf,
        /// Column's name in the file.
        old: String,
        /// Column's name now.
        new: String,
    },
    /// Damaged files of a results folder.
    #[error("{}", lines(.0))]
    Damaged(Vec<Damage>),
}

/// Damaged file of a results folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is damaged: {why}", .file.display())]
pub struct Damage {
    /// File.
    pub file: PathBuf,
    /// Kind of damage.
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

    /// Exit status: 2 for a wrong request (invalid scenario, existing folder, no valid results), 3 for unwritable files, 130
    /// for an interruption, 70 for a fault in incast.
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
