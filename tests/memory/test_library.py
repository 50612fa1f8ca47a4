"""A checkout builds the library of `incast memory` on first use and after a change; cargo is a script here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from incast.memory import library

CARGO = """\
#!/bin/sh
echo "$@" >> {calls}
echo new > {built}
echo '{{"reason": "compiler-artifact", "target": {{"kind": ["lib"]}}, "filenames": ["/other"]}}'
echo '{{"reason": "compiler-artifact", "target": {{"kind": ["cdylib"]}}, "filenames": ["{built}"]}}'
echo '{{"reason": "build-finished", "success": true}}'
"""
FAILING = "#!/bin/sh\necho 'error: linker `cc` not found' >&2\nexit 101\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one source, and a `cargo` that counts its calls."""
    source = tmp_path / "crates" / "incast-memory" / "src" / "lib.rs"
    source.parent.mkdir(parents=True)
    for file in (tmp_path / "Cargo.toml", source.parent.parent / "Cargo.toml", source):
        file.write_text("")
    set_cargo(tmp_path, CARGO.format(calls=tmp_path / "calls", built=tmp_path / "built"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def set_cargo(folder: Path, script: str) -> None:
    """Puts a `cargo` on PATH."""
    file = folder / "bin" / "cargo"
    file.parent.mkdir(exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)


def test_it_is_built_once_and_again_after_a_change(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = checkout / "library.so"
    library.build(checkout, file)
    library.build(checkout, file)
    assert file.read_text() == "new\n"
    assert capsys.readouterr().err == "building the library of incast memory (once, about 20 s) ...\n"
    later = file.stat().st_mtime + 1
    os.utime(checkout / "crates" / "incast-memory" / "src" / "lib.rs", (later, later))
    library.build(checkout, file)
    assert len((checkout / "calls").read_text().splitlines()) == 2


def test_cargo_fails(checkout: Path) -> None:
    set_cargo(checkout, FAILING)
    with pytest.raises(library.BuildError, match="exit code 101") as caught:
        library.build(checkout, checkout / "library.so")
    assert "linker `cc` not found" in str(caught.value)
    assert not (checkout / "library.so").exists()


def test_there_is_no_cargo(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    with pytest.raises(library.BuildError, match="not built yet, and there is no cargo on PATH"):
        library.build(checkout, checkout / "library.so")


def test_a_folder_that_cannot_be_written(checkout: Path) -> None:
    with pytest.raises(library.BuildError, match="cannot be written: No such file or directory"):
        library.build(checkout, checkout / "gone" / "library.so")
