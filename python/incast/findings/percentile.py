"""p99 slowdown in SQL, as in the table after a run."""

SLOWDOWN = "greatest(slowdown_hpcc, 1)"
"""Slowdown of a flow, at least 1."""


def p99(values: str) -> str:
    """The 99th percentile of an expression in a group: element floor(0.99 n) of the sorted values."""
    return f"list_sort(list({values}))[least(count(*), floor(0.99::double * count(*))::bigint + 1)]"
