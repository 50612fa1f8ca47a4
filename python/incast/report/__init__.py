"""One page of results, sweeps and studies: a single HTML file that opens from disk."""

from incast.report.write import write

__all__ = ["write"]
