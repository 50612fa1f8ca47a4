"""Descriptions from the Rust types of this checkout."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
# With `--workspace`, libraries have the features that they have in tests and extension: they are built once.
COMMAND = "cargo build --quiet --locked --workspace --example describe --message-format=json"


@dataclass(frozen=True)
class Program:
    """The program: the JSON schema of scenario files, and its catalogue of what a scenario can name."""

    schema: Json
    catalogue: Json

    @classmethod
    def of_checkout(cls) -> Program:
        """From the example `describe` of `incast-lab`, so nobody has to build the extension for it."""
        built = subprocess.run(COMMAND.split(), cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
        messages = (json.loads(line) for line in built.stdout.splitlines())
        (path,) = (each["executable"] for each in messages if each.get("executable"))
        said = json.loads(subprocess.check_output([path], cwd=ROOT, encoding="utf-8"))
        return cls(**said)
