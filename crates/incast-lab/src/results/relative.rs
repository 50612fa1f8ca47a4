//! Relative paths between folders.

use std::path::{Component, Path, PathBuf};

/// Path from `folder`, which need not exist, to `target`, through links as the system resolves them.
pub(super) fn relative(folder: &Path, target: &Path) -> Option<PathBuf> {
    let parent = folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let from = parent.canonicalize().ok()?.join(folder.file_name()?);
    let to = target.canonicalize().ok()?;
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    Some(up.chain(to.components().skip(shared)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved() {
        let home = tempfile::tempdir().unwrap();
        let (deep, link) = (home.path().join("a/b"), home.path().join("link"));
        std::fs::create_dir_all(&deep).unwrap();
        std::os::unix::fs::symlink(&deep, &link).unwrap();
        assert_eq!(relative(&deep.join("run"), home.path()), Some(PathBuf::from("../../..")));
        assert_eq!(relative(&link.join("run"), &home.path().join("a")), Some(PathBuf::from("../..")));
        assert_eq!(relative(&home.path().join("run"), &link), Some(PathBuf::from("../a/b")));
        assert_eq!(relative(&home.path().join("run"), &home.path().join("none")), None);
    }
}
