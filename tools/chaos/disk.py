"""A small file system of its own, where root may mount one; otherwise an ordinary folder that never fills."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

LARGE = 64 << 20


@dataclass
class Disk:
    """A file system."""

    path: Path
    own: bool
    """True if it is mounted here, so that its size can change."""

    def shrink(self, free: int) -> None:
        """Leave about so many bytes free."""
        found = os.statvfs(self.path)
        self.resize((found.f_blocks - found.f_bfree) * found.f_frsize + free)

    def resize(self, size: int) -> None:
        """Change the size; without effect if more is in use."""
        if self.own:
            subprocess.run(["mount", "-o", f"remount,size={size}", self.path], check=False, capture_output=True)


@contextmanager
def disk(place: Path | None) -> Iterator[Disk]:
    """A file system for one series of faults, or a folder of a given one; removed at the end."""
    path = Path(mkdtemp(prefix="incast-chaos-", dir=place))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={LARGE}", "none", str(path)]
    own = (
        place is None and os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0
    )
    try:
        yield Disk(path, own)
    finally:
        if own:
            subprocess.run(["umount", "--lazy", path], check=True)
        shutil.rmtree(path, ignore_errors=True)
