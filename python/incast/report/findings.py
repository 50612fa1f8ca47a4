"""The first section of a page: findings as sentences, and the provenance of the run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import incast
from incast._echo import shell
from incast.charts.groups import Group
from incast.charts.source import SCENARIO
from incast.errors import IncastError
from incast.report.html import element, escape, prose
from incast.results import Results

NONE = "No rule found anything to report."


def section(groups: Sequence[Group], packed: Sequence[dict[str, Any]]) -> str | None:
    """The findings of the first scenario of each group, which scripts replace; `None` if no scenario has any."""
    if not any("findings" in one for group in packed for one in group["variations"]):
        return None
    return "\n".join(
        f'<div data-group="{place}"{" hidden" if place else ""}>'
        f'<div class="findings">{listed(of_group["variations"][0].get("findings", ()))}</div>{provenance(group)}</div>'
        for place, (group, of_group) in enumerate(zip(groups, packed, strict=True))
    )


def listed(findings: Sequence[dict[str, Any]]) -> str:
    """Findings as a list."""
    if not findings:
        return element("p", NONE, "empty")
    items = "".join(f"<li>{prose(finding['text'])}</li>" for finding in findings)
    return f"<ul>{items}</ul>"


def provenance(group: Group) -> str:
    """Date, version, build, seed and machine of the first run of a group, and the command that repeats it."""
    results = group.variations[0].source.results[0]
    manifest = results.manifest
    machine = manifest["machine"]
    date = datetime.fromtimestamp((results.path / "manifest.json").stat().st_mtime, UTC)
    build = f" (build {manifest['build']})" if manifest.get("build") else ""
    text = (
        f"Results of {date:%Y-%m-%d %H:%M} UTC (file date): incast {manifest['incast']}{build}, seed "
        f"{manifest['seed']}, {machine['cpu']}, {machine['cores']} cores, {machine['os']}."
    )
    again = (
        ""
        if group.columns or not loads(results)
        else (f" To repeat the run: <code>{escape(f'incast run {shell(results.path / SCENARIO)} -o NEW')}</code>")
    )
    return f'<p class="note">{escape(text)}{again}</p>'


def loads(results: Results) -> bool:
    """True if the scenario in the results folder can be run: its files are found from there."""
    try:
        incast.load(results.path / SCENARIO)
    except IncastError:
        return False
    return True
