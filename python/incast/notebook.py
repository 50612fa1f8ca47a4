"""Results in notebooks: a summary, and a chart if matplotlib is installed."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from incast import charts, plot
from incast.charts import look
from incast.charts.chart import Chart
from incast.charts.over import over
from incast.charts.slowdown import of_one_size
from incast.charts.uneven import uneven_seeds
from incast.errors import MissingLibraryError
from incast.findings import findings_of

if TYPE_CHECKING:
    from incast.results import Results
    from incast.sweep.dataset import Sweep
    from incast.table import Table

ROWS = 10
"""Most rows of a table that are shown."""


def of_results(results: Results) -> str:
    """Warnings, findings, outcome and slowdowns of each scheme, with the chart of slowdowns by size."""
    slowdowns = list(results.slowdown(bins=1).dicts())
    several = len({row["label"] for row in slowdowns}) > 1
    rows = []
    for name, scheme in results.manifest["schemes"].items():
        ended = [name, scheme["stop"]["text"], look.time(scheme["end_ps"]), f"{scheme['completed']:,}"]
        mine = [row for row in slowdowns if row["scheme"] == name]
        for row in mine:
            label = [f"{row['label']} ({row['flows']:,})"] if several else []
            rows.append([*ended, *label, *(f"{row[each]:.2f}" for each in ("p50", "p95", "p99"))])
            ended = [""] * len(ended)
        if not mine:
            rows.append([*ended, *[""] * (3 + several)])
    header = ["scheme", "end", "simulated time", "flows completed", *(["label (flows)"] if several else [])]
    header += ["slowdown p50", "p95", "p99"]
    title = results.manifest.get("title") or results.path.name
    head = f"<p><b>{html.escape(str(title))}</b>: results in <code>{html.escape(str(results.path))}</code></p>"
    head += _warned(results.warnings())
    source = charts.Source([results])
    try:
        head += _items(finding.text for finding in findings_of(source))
        chart = charts.slowdown(source)
        return head + _table(header, rows) + _drawn(chart, below=of_one_size(source, chart))
    finally:
        source.close()


def of_table(table: Table) -> str:
    """The first rows, with units."""
    header = [f"{column.name} ({column.unit})" if column.unit else column.name for column in table.columns]
    rows = [["" if value is None else _text(value) for value in row] for row in table.rows(ROWS)]
    rest = f", first {ROWS} shown" if len(table) > ROWS else ""
    return f"<p><b>{html.escape(table.name)}</b>: {len(table):,} rows{rest}</p>" + _table(header, rows)


def of_sweep(sweep: Sweep) -> str:
    """Warnings, varied parameters and number of finished runs, with a chart over the first column that varies."""
    states = [run.state for run in sweep.runs]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    title = html.escape(str(sweep.title or sweep.path.name))
    head = f"<p><b>{title}</b>: {len(states)} runs, {counts}, in <code>{html.escape(str(sweep.path))}</code></p>"
    head += _warned(f"{count:,} of {len(sweep.done):,} runs: {text}" for text, count in sweep.warnings().items())
    columns = sweep.index["columns"]
    rows = [[column["name"], ", ".join(map(str, column["values"]))] for column in columns]
    head += _table(["varied", "values"], rows)
    varied = [column for column in columns if len(column["values"]) > 1]
    others = [column for column in varied[1:] if column["path"] != "seed"]
    if not sweep.done or not varied or others:
        return head
    by_values: dict[tuple[Any, ...], list[Results]] = {}
    for run in sweep.done:
        by_values.setdefault(tuple(run.columns.values()), []).append(sweep.results(run))
    scenarios = [(values, charts.Source(results)) for values, results in by_values.items()]
    palette = list(dict.fromkeys(run.scheme for run in sweep.runs))
    chart = over(sweep.columns, scenarios, palette, of="slowdown_p99")
    seed = next((column["name"] for column in columns if column["path"] == "seed"), None)
    uneven = uneven_seeds(sweep.columns, None if varied[0]["name"] == seed else seed, chart.rows)
    return head + _items([*uneven, *chart.left_out]) + _drawn(chart, x=varied[0]["name"])


def _warned(texts: Iterable[str]) -> str:
    """Warnings, which come first."""
    return "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in texts)


def _items(texts: Iterable[str]) -> str:
    """A list; nothing for no texts."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _drawn(chart: Chart, **options: Any) -> str:
    """The chart as SVG, or a note about the missing library."""
    if not chart.rows:
        return f"<p>{html.escape(chart.why_empty or '')}</p>"
    try:
        figure = plot.draw(chart, **options)
    except MissingLibraryError:
        return "<p>Install matplotlib to see a chart here: <code>pip install matplotlib</code>.</p>"
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg") :]
