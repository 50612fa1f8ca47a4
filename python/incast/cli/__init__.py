"""The command `incast`."""

from incast.cli.main import main

__all__ = ["main"]
