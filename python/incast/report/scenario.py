"""The scenario on a page: fabric, flows, schemes, how each ended, and the scenario file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from incast._quantity import picoseconds, size_bytes
from incast.charts import look
from incast.charts.groups import Group, conditions
from incast.charts.source import Source, scenario_file
from incast.errors import IncastError
from incast.findings.words import share
from incast.report.html import details, element, escape, table
from incast.report.units import spaced
from incast.results import Results
from incast.sweep.dataset import Run

SHOWN = 200
"""Runs without results that a page lists one by one (our choice)."""


def section(group: Group) -> str:
    """The scenario of a group: of its first variation where there are several."""
    source = group.variations[0].source
    parts = [varied(group)] if group.columns else []
    toml = scenario_file(source.results[0])
    try:
        summaries = [summary_of(each) for each in source.results]
    except IncastError as error:
        parts.append(element("p", f"No details, because the scenario cannot be read: {first_line(error)}", "note"))
        summaries = []
    if not summaries:
        parts.append(table(["", ""], counted(source), "Fabric and flows"))
    else:
        parts += (element("p", line, "note bad") for line in input_changed(source, summaries[0]))
        header = ["label", "flows", "payload", "first start", "last start", "load of host links"]
        header, rows = without_empty_end(header, list(flows(summaries[0])))
        of_flows = table(header, rows, "Flows", numbers=(1, 2, 3, 4, 5))
        parts.append(f'<div class="facts">{table(["", ""], fabric(summaries[0]), "Fabric")}{of_flows}</div>')
        if summaries[0].get("vms"):
            parts.append(table(["tenant", "VMs", "guarantee", "placement"], tenants(summaries[0]), "Tenants"))
            parts += (element("p", line, "note") for line in admission(summaries[0]))
        parts += (element("p", f"Synthetic traffic: {line}.", "note") for line in summaries[0]["synthetic"])
    header = ["scheme", "control", "end", "simulated time", "CPU time", "packet-hops", "ECN", "network"]
    header, rows = without_empty_end(header, list(schemes(source, summaries)))
    parts.append(table(header, rows, "Schemes", numbers=(3, 4, 5)))
    if group.missing:
        parts.append(without_results(group.missing))
    text = escape(toml.decode("utf-8", "replace"))
    parts.append(details("Scenario file with all defaults", f"<pre tabindex='0'><code>{text}</code></pre>"))
    return "\n".join(parts)


def without_empty_end(header: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """A table without its last column if that is empty."""
    return (header, rows) if any(row[-1] for row in rows) else (header[:-1], [row[:-1] for row in rows])


def summary_of(results: Results) -> dict[str, Any]:
    """The derived figures of the scenario that was run."""
    found: dict[str, Any] = json.loads(results.scenario().summary("json"))
    return found


def input_changed(source: Source, summary: dict[str, Any]) -> Iterator[str]:
    """A note if files that the scenario names have other contents than at the time of the run."""
    manifest = source.results[0].manifest
    now = (summary["fabric"]["hosts"], sum(label["flows"] for label in summary["labels"]))
    if now != (manifest["fabric"]["hosts"], manifest["flows"]):
        yield (
            "A file that the scenario names has changed since the run, which had "
            f"{manifest['fabric']['hosts']:,} hosts and {manifest['flows']:,} flows. The details below are those "
            "of the changed file."
        )


def varied(group: Group) -> str:
    """The columns of a sweep."""
    rows = [
        [column["name"], column["path"] or "several fields", ", ".join(str(value) for value in column["values"])]
        for column in group.columns
    ]
    first = dict(zip((column["name"] for column in group.columns), group.variations[0].values, strict=True))
    return table(["column", "field of the scenario", "values"], rows, "Varied parameters") + element(
        "p", f"The details below are of {conditions(first)}.", "note"
    )


def fabric(summary: dict[str, Any]) -> Iterator[list[str]]:
    """The fabric in figures."""
    found = summary["fabric"]
    kind = next(iter(summary["scenario"]["fabric"]))
    vms = summary.get("vms")
    # A server with VMs is a switch of its own.
    switches = sum(tier["switches"] for tier in found["tiers"]) - (vms["servers"] if vms else 0)
    hosts = f"{vms['servers']:,} servers with {vms['slots']} VM slots each" if vms else f"{found['hosts']:,} hosts"
    yield ["kind", kind]
    yield ["nodes", f"{hosts}, {switches:,} {'switch' if switches == 1 else 'switches'}"]
    for tier in found["tiers"]:
        yield [f"tier {tier['tier']}", tier_text(tier)]
    yield ["links", ", ".join(map(links_text, found["links"]))]
    rtt = f"{found['max_base_rtt']}; largest bandwidth-delay product {found['max_bdp']}"
    yield ["longest base RTT", spaced(rtt)]
    if found["bisection"]:
        yield ["bisection", f"{spaced(found['bisection'])} each way"]


def links_text(link: dict[str, Any]) -> str:
    """Number of links, with their rate and delay."""
    delay = f"{spaced(link['delay'])} delay" if picoseconds(link["delay"]) else "no delay"
    return f"{link['links']:,} with {spaced(link['rate'])} and {delay}"


def tenants(summary: dict[str, Any]) -> Iterator[list[str]]:
    """Tenants with their VMs, guarantees and placement."""
    for one in summary["vms"]["tenants"]:
        total, fewest, most = one["vms"]
        vms = (
            f"{total:,} VMs"
            if one["tenants"] == 1
            else f"{total:,} VMs of {one['tenants']:,} tenants with {fewest} to {most} each"
        )
        yield [one["name"], vms, spaced(one.get("guarantee", "none")), one["placement"]]


def admission(summary: dict[str, Any]) -> Iterator[str]:
    """Result of the admission check: the links carry the guarantees, or not."""
    found = summary["vms"].get("admission")
    if found:
        cuts = ", ".join(
            f"{cut['direction']} {cut['name']} {cut['reserved']} of {cut['room']}" for cut in found["tightest"]
        )
        verdicts = {True: "Links can carry all guarantees", None: "It is unknown if links can carry all guarantees"}
        said = verdicts.get(found["admitted"], "Links cannot carry all guarantees")
        yield f"{said}{': ' + found['problem'] if found.get('problem') else ''}. Tightest: {spaced(cuts) or 'none'}."


def tier_text(tier: dict[str, Any]) -> str:
    """A layer of switches: rates down, up and across."""
    ways = [f"{spaced(tier[way])} {way}" for way in ("down", "up", "across") if tier[way] != "0bps"]
    over = tier["oversubscription"]
    if over:
        ways.append(f"{over:.3g} : 1 oversubscribed" if over > 1 else "not oversubscribed")
    return f"{tier['switches']:,} {'switch' if tier['switches'] == 1 else 'switches'}: {', '.join(ways)}"


def flows(summary: dict[str, Any]) -> Iterator[list[str]]:
    """Figures of each label."""
    for label in summary["labels"]:
        load = "" if label["load"] is None else share(label["load"])
        starts = [look.time(picoseconds(str(label[which])) or 0) for which in ("first", "last")]
        if label["waiting"]:
            starts[1] = "after other flows"
        endless, sized = label["backlogged"], look.size(size_bytes(str(label["bytes"])))
        payload = (
            sized if not endless else "backlogged" if endless == label["flows"] else f"{sized}, {endless:,} backlogged"
        )
        yield [label["label"], f"{label['flows']:,}", payload, *starts, load]


def schemes(source: Source, summaries: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Control, outcome, marking and other network settings of each scheme."""
    said = {scheme["name"]: scheme for summary in summaries for scheme in summary["schemes"]}
    for name, scheme in source.manifests.items():
        mine = said.get(name, {})
        hops = sum(int(count) for kind, count in scheme["counts"].items() if kind.endswith("_hops"))
        controls = mine.get("controls", scheme["controls"])
        end, cpu = look.time(scheme["end_ps"]), f"{scheme['cpu_s']:.2f} s"
        # The scenario file below has the origin of each value.
        marking = re.sub(r" \([^()]*\)$", "", mine.get("ecn", ""))
        behind = [f"behind {mine['hypervisor']}"] if "hypervisor" in mine else []
        control, network = ", ".join([*controls, *behind]), "; ".join(mine.get("network", []))
        yield [name, control, scheme["stop"]["text"], end, cpu, f"{hops:,}", marking, network]


def counted(source: Source) -> Iterator[list[str]]:
    """Counts of the manifest."""
    manifest = source.results[0].manifest
    for name, count in manifest["fabric"].items():
        yield [name, f"{count:,}"]
    yield ["flows", f"{manifest['flows']:,} with {look.size(manifest['flow_bytes'])} in total"]


def without_results(missing: Sequence[Run]) -> str:
    """The runs of a sweep that are not on the page."""
    failed = sum(run.state == "failed" for run in missing)
    heading = f"{failed} failed, {len(missing) - failed} not run"
    rows = [
        [", ".join(f"{name} = {value}" for name, value in run.columns.items()), run.scheme, run.state, run.error or ""]
        for run in missing[:SHOWN]
    ]
    rest = f" (the first {SHOWN} of {len(missing)})" if len(missing) > SHOWN else ""
    return table(["scenario", "scheme", "state", "error"], rows, f"Runs without results: {heading}{rest}", kind="bad")


def first_line(error: Exception) -> str:
    """First line of an error."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
