"""Descriptions from the Rust types of this checkout.

The example `describe` of `incast-lab` prints them, so nobody has to build the extension for it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
# With `--workspace`, libraries have the features that they have in tests and extension: they are built once.
COMMAND = "cargo build --quiet --locked --workspace --example describe --message-format=json"


def _built() -> str:
    """Build the example; its path."""
    done = subprocess.run(COMMAND.split(), cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    messages = (json.loads(line) for line in done.stdout.splitlines())
    (path,) = (each["executable"] for each in messages if each.get("executable"))
    return str(path)


class Program:
    """The program, for as long as there are scenarios to check."""

    def __init__(self) -> None:
        """Build and start it."""
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([_built()], cwd=ROOT, stdin=pipe, stdout=pipe, encoding="utf-8")
        said = self._answer()
        self.schema: Json = said["schema"]
        """The JSON schema of scenario files."""
        self.catalogue: Json = said["catalogue"]
        """Components that a scenario can name, with their parameters, and the tables of results."""

    def faults(self, tree: Json) -> list[Json]:
        """Values of a scenario that the checks refuse: `field`, and the `allowed` values."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(tree) + "\n")
        self._process.stdin.flush()
        found: list[Json] = self._answer()
        return found

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError(f"example describe: exit {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End it."""
        self._process.__exit__(kind, error, at)
