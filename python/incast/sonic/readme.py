"""README of exported files."""

from __future__ import annotations

from incast.sonic.export import LOOKUP, Export
from incast.sonic.thresholds import Thresholds

NAME = "README.md"
LARGEST = 8
"""Switches of a file that are named one by one."""
HEAD = """\
# SONiC buffer configuration of {scenario}

Scheme: {schemes}. Written by `incast export sonic-buffers`.

| file | for |
|---|---|
"""
BODY = """
Load a file with `config load FILE`. It sets the tables that it names and leaves others. If your ports have other names,
export again with `--port-names`.

| incast | SONiC |
|---|---|
| `switch.buffer` | `size` + `xoff` of ingress_lossless_pool; `xoff` is the sum of all headrooms |
| `switch.reserve` | `size` and `xon` of a lossless profile |
| headroom | `xoff` of a lossless profile |
| alpha, `lossy_alpha` | `dynamic_th` = log2(alpha) |
| static XOFF | `static_th`: bytes above `size` |
| `switch.resume_offset` | `xon_offset`: XON at max(`xon`, limit - `xon_offset`) |
| delay of a link | cable, at 198,000 km/s, in whole metres, rounded up |
| ECN thresholds of a rate | WRED_PROFILE `ECN_<Mb/s>`, with equal colours |
| `switch.scheduler` | SCHEDULER and QUEUE; queue 0 is STRICT, the others as in incast |
| `switch.watchdog` | PFC_WD, in ms |
| priority | traffic class, priority group (lossy: 0), queue and PFC priority of the same number |

Sizes are for ASICs with a headroom pool (`xoff` of ingress_lossless_pool): `size` of a profile does not contain its
headroom. With `buffer_model = dynamic`, SONiC computes pools and lossless profiles itself and does not use these.
"""
NOTES = """
## Not in these files

"""


def readme(scenario: str, found: Thresholds, export: Export) -> str:
    """The text, in Markdown."""
    rows = [f"| {file} | {_named(names)} |\n" for file, names in export.switches.items()]
    if LOOKUP in export.files:
        rows.append(f"| {LOOKUP} | all switches: `/usr/share/sonic/device/PLATFORM/HWSKU/{LOOKUP}` |\n")
    head = HEAD.format(scenario=scenario, schemes=", ".join(found.schemes))
    notes = NOTES + "".join(f"- {note}\n" for note in export.notes) if export.notes else ""
    return head + "".join(rows) + BODY + notes


def _named(names: tuple[str, ...]) -> str:
    if len(names) <= LARGEST:
        return ", ".join(names)
    return f"{names[0]}, {names[1]}, ..., {names[-1]}: {len(names)} switches with equal ports"
