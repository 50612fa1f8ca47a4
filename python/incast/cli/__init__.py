"""The command `incast`."""

from __future__ import annotations

from incast.cli.signals import NOTHING_WRITTEN, exiting, handle

TYPE_CHECKING = False  # as in `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn


def main(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command and exit."""
    handle(exiting(NOTHING_WRITTEN))
    from incast.cli import ends

    ends.run(tokens)
