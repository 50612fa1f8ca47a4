"""What the Rust types of this checkout say.

The example `describe` of `incast-lab` prints it, so nobody has to build the extension for it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
COMMAND = "cargo run --quiet --locked -p incast-lab --example describe"


class Program:
    """The program, for as long as there are scenarios to check."""

    def __init__(self) -> None:
        """Build and start it."""
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(COMMAND.split(), cwd=ROOT, stdin=pipe, stdout=pipe, encoding="utf-8")
        said = self._answer()
        self.schema: Json = said["schema"]
        """The JSON schema of scenario files."""
        self.catalogue: Json = said["catalogue"]
        """What a scenario can name, with its parameters, and the tables of results."""

    def faults(self, tree: Json) -> list[Json]:
        """What the checks refuse of a scenario: `field`, and what would be `allowed`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(tree) + "\n")
        self._process.stdin.flush()
        found: list[Json] = self._answer()
        return found

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError(f"{COMMAND}: exit {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End it."""
        self._process.__exit__(kind, error, at)
