"""Messages, each with one flow or with several queue pairs (`qps`): an application waits for the whole message."""

from __future__ import annotations

from incast.charts.source import Source

_MESSAGES = """(
    select scheme, label, min(flow) as flow, min(dependency) as dependency, sum(size_bytes) as size_bytes,
        min(start_ps) as start_ps, if(count(finish_ps) = count(*), max(finish_ps), null) as finish_ps,
        if(count(delivered_ps) = count(*), max(delivered_ps), null) as delivered_ps,
        if(bool_and(status = 'completed'), 'completed', 'incomplete') as status,
        bool_or(backlogged) as backlogged,
        if(count(slowdown_hpcc) = count(*), (max(finish_ps) - min(start_ps)) / max(ideal_hpcc_ps), null)
            as slowdown_hpcc
    from flows group by scheme, label, message)
"""


def transfers(source: Source) -> str:
    """An SQL table with a row per message, which has the columns of its flow or, of several, those of all together.

    The ideal time of each flow is that of its whole message.
    """
    return _MESSAGES if source.count("messages") else "flows"


def noun(source: Source, label: str | None = None) -> str:
    """`message` if several flows carry a message of the label (default: of any), else `flow`."""
    if not source.count("messages"):
        return "flow"
    query = "select count(*) from messages where $label is null or label = $label"
    return "message" if source.rows(query, {"label": label}) != [(0,)] else "flow"
