"""`incast list`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from incast import _core, _terminal, computed
from incast._nearest import hint
from incast.cli import codes
from incast.cli.command import command

WIDEST = 120
"""Most columns of the terminal that are used (our choice)."""
Kind = Literal[
    "fabrics",
    "workloads",
    "sizes",
    "controls",
    "transports",
    "tcp_controls",
    "hypervisors",
    "load_balancers",
    "profiles",
    "sections",
    "tables",
]
Entry = dict[str, Any]

EXAMPLES = """
Examples:
  incast list
  incast list controls
  incast list controls dcqcn
  incast list sections network.failure
"""
WHAT = {
    "fabrics": "in [fabric.NAME]",
    "workloads": "in [[workload]], as NAME = { ... }",
    "sizes": 'as sizes = "NAME" of a workload',
    "controls": 'of RDMA, in [scheme.X], as control = "NAME"',
    "transports": 'other than RDMA, in [scheme.X], as transport = "NAME"',
    "tcp_controls": 'in [scheme.X.transport.tcp], as control = "NAME"',
    "hypervisors": 'between VMs and the network, in [scheme.X], as hypervisor = "NAME"',
    "load_balancers": 'in [network], as load_balancing = "NAME"',
    "profiles": 'as profile = "NAME" of the scenario, or of its [packets]',
    "sections": "as [NAME]",
    "tables": "of a results folder, as NAME.parquet; the last four are computed by `incast results --table NAME`",
}


def list_(
    kind: Kind | None = None,
    name: str | None = None,
    /,
    *more: Annotated[str, Parameter(show=False)],
    format: Annotated[Literal["text", "json"], Parameter(show_default=False)] = "text",  # noqa: A002
) -> int:
    """List the fabrics, workloads, controls and other names that a scenario can use, with their parameters.

    Parameters
    ----------
    kind
        Kind to list. Default: the names of all kinds.
    name
        Entry of that kind, to print all its parameters; or, with a dot, a parameter that contains others, such as
        network.failure of sections.
    format
        Output format.

    """
    catalogue = read()
    if kind is None:
        chosen: object = catalogue
        lines = overview(catalogue)
    elif name is None:
        chosen = catalogue[kind]
        lines = entries(catalogue[kind])
    elif more:
        path = ".".join([name, *more])
        codes.complain(f"`incast list {kind}` takes one name: write `{path}` for a parameter inside `{name}`")
        return codes.BAD_INPUT
    else:
        first, *inside = name.split(".")
        known = {each: entry for entry in catalogue[kind] for each in names_of(entry)}
        if name in known:
            first, inside = name, []
        path, found = first, known.get(first)
        if found is None:
            codes.complain(f"unknown name `{first}`, allowed {kind}: {', '.join(known)}{hint(first, known)}")
            return codes.BAD_INPUT
        for each in inside:
            known = {parameter["name"]: parameter for parameter in found.get("parameters", [])}
            if each not in known:
                there = f"it has {', '.join(known)}" if known else "it has no parameters inside"
                codes.complain(f"there is no `{each}` in `{path}`: {there}{hint(each, known)}")
                return codes.BAD_INPUT
            path, found = f"{path}.{each}", known[each]
        chosen = found
        lines = details({**found, "name": path} if inside else found)
    print(json.dumps(chosen, indent=2) if format == "json" else "\n".join(lines))
    return codes.OK


def names_of(entry: Entry) -> list[str]:
    """All names of an entry."""
    return [entry["name"], *entry.get("also", [])]


def read() -> dict[str, list[Entry]]:
    """All entries by kind."""
    catalogue: dict[str, list[Entry]] = json.loads(_core.catalogue())
    for entry in catalogue.pop("packet_profiles"):
        catalogue["profiles"].append({**entry, "source": f"packets: {entry['source']}"})
    catalogue["tables"] += computed.catalogue()
    return catalogue


def overview(catalogue: dict[str, list[Entry]]) -> Iterator[str]:
    """The names of every kind."""
    for kind, where in WHAT.items():
        yield f"{kind}: {where}"
        yield from wrapped(", ".join(entry["name"] for entry in catalogue[kind]), 4)
    yield "\nincast list KIND describes each entry, incast list KIND NAME shows its parameters"


def entries(kind: list[Entry]) -> Iterator[str]:
    """Every entry of a kind, with its description."""
    for entry in kind:
        yield entry["name"]
        yield from about(entry)


def about(entry: Entry) -> Iterator[str]:
    """Description and source of an entry."""
    if "description" in entry:
        yield from wrapped(entry["description"], 4)
    if "mean_bytes" in entry:
        yield from sizes(entry)
    if entry.get("source"):
        yield from wrapped(f"source: {entry['source']}" if "description" in entry else entry["source"], 4)


def sizes(entry: Entry) -> Iterator[str]:
    """Figures of a flow-size distribution, and means of its variants."""
    mean = entry["mean_bytes"]
    figures = [f"mean {mean:,.0f} B"]
    figures += [f"{name} {entry[f'{name}_bytes']:,.0f} B" for name in ("median", "p90", "p99", "max")]
    figures.append(f"mean without interpolation {entry['step_mean_bytes']:,.0f} B")
    yield from wrapped(", ".join(figures), 4)
    if entry["packet_bytes"]:
        yield f"    draws are rounded to packets of {entry['packet_bytes']} B"
    if entry["also"]:
        yield from wrapped(f"other names: {', '.join(entry['also'])}", 4)
    if entry["variants"]:
        others = (f"{name} {other:,.0f} B ({other / mean:.3g} times)" for name, other in entry["variants"])
        yield from wrapped(f"means of its variants: {', '.join(others)}", 4)


def details(entry: Entry) -> Iterator[str]:
    """One entry with its parameters, profiles, values or columns."""
    yield from entries([entry])
    if "window" in entry:
        yield f"    default window: {entry['window']}"
    if "marking" in entry:
        yield f"    default [ecn]: {entry['marking']}"
    for name, value in entry.get("switch", {}).items():
        yield f"    default [switch]: {name} = {json.dumps(value)}"
    for profile in entry.get("profiles", []):
        yield f"\nprofile {profile['name']}"
        yield from wrapped(profile["source"], 4)
    yield from parameters(entry, 0)
    for name, value in (entry.get("values") or {}).items():
        yield f"    {name} = {value}"
    for column in entry.get("columns", []):
        unit = f" ({column['unit']})" if column["unit"] else ""
        yield from wrapped(f"{column['name']}{unit}: {column['description']}", 4)


def parameters(entry: Entry, indent: int) -> Iterator[str]:
    """The parameters of an entry, each followed by those inside it."""
    margin = " " * indent
    for parameter in entry.get("parameters", []):
        yield ("" if indent else "\n") + f"{margin}{parameter['name']}: {parameter['kind']}{needed(parameter)}"
        yield from wrapped(parameter["description"], indent + 4)
        yield from parameters(parameter, indent + 8)


def needed(parameter: Entry) -> str:
    """Marks a required parameter, or shows its default."""
    if parameter["required"]:
        return ", required"
    default = parameter["default"]
    return "" if default is None or default in ({}, []) else f", default {json.dumps(default).strip(chr(34))}"


def wrapped(text: str, indent: int) -> list[str]:
    """Text folded to the terminal."""
    margin = " " * indent
    width = _terminal.width(WIDEST)
    return textwrap.wrap(" ".join(text.split()), width, initial_indent=margin, subsequent_indent=margin)


app = command("list", list_, EXAMPLES)
