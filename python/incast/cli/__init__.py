"""The command `incast`."""

from incast.cli.ends import main

__all__ = ["main"]
