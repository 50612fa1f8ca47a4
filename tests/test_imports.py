"""No Rust crate has an import cycle between its modules; `rust_modules.py` says what counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from rust_modules import components

CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())


@pytest.mark.parametrize("crate", CRATES)
def test_modules_have_no_import_cycle(crate: str) -> None:
    cycles = [cycle for _, of_folder in components(ROOT / "crates" / crate / "src") for cycle in of_folder.values()]
    assert not cycles, f"import cycles in {crate}/src: {sorted(cycles, key=len)}"


def cycles_of(source: Path, files: dict[str, str]) -> list[tuple[str, dict[str, str]]]:
    """The components of a crate with these files, besides the declarations of modules."""
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    return components(source)


def test_a_cycle_of_files_is_spelled_out(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod c;",
        "a.rs": "use std::fmt;\nuse crate::{b::{self, B as Other}, c};",
        "b.rs": "fn f() -> crate::c::C { C }",
        "c.rs": '#[serde(with = "crate::a::text")] struct C;',
    }
    found = {
        "a": "a.rs -> c.rs -> a.rs",
        "b": "b.rs -> c.rs -> a.rs -> b.rs",
        "c": "c.rs -> a.rs -> c.rs",
    }
    assert cycles_of(tmp_path, files) == [("", found)]


def test_imports_through_a_parent_are_those_of_siblings(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod folder; mod user;",
        "folder/mod.rs": "mod x; mod y; pub use x::X; pub(crate) use y::*; struct Own;",
        "folder/x.rs": "use crate::folder::Y; pub struct X;",
        "folder/y.rs": "use super::{Own, X}; pub struct Y;",
        "user.rs": "use crate::folder::X;",
    }
    cycle = "folder/{0}.rs -> folder/{1}.rs -> folder/{0}.rs"
    assert cycles_of(tmp_path, files) == [("folder", {"x": cycle.format("x", "y"), "y": cycle.format("y", "x")})]


def test_files_of_two_folders_close_a_cycle_of_folders(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b;",
        "a/mod.rs": "mod one; mod two;",
        "a/one.rs": "use crate::b;\nfn f() { b::one::g() }",
        "a/two.rs": "",
        "b/mod.rs": "pub mod one; mod two;",
        "b/one.rs": "",
        "b/two.rs": "use crate::a::two;",
    }
    found = {
        "a": "a/one.rs -> b/one.rs, b/two.rs -> a/two.rs",
        "b": "b/two.rs -> a/two.rs, a/one.rs -> b/one.rs",
    }
    assert cycles_of(tmp_path, files) == [("", found)]


def test_tests_comments_and_parents_are_no_imports(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; struct Root;",
        "a.rs": "use crate::b::B;\nmod inner { use super::B; fn f() -> crate::Root {} }",
        "b.rs": """
            // use crate::a;
            const TEXT: &str = "use crate::a;";
            #[cfg(test)]
            use crate::a::{self};
            #[cfg(test)]
            fn g<A, B>(a: crate::a::A) -> [u8; 2] { crate::a::h() }
            pub struct B;
            #[cfg(test)]
            #[path = "b_tests.rs"]
            mod tests;
        """,
        "b_tests.rs": "use crate::a;",
    }
    assert cycles_of(tmp_path, files) == []
