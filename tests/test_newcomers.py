"""Three new users, step by step: a researcher with ns-3 files, a fabric engineer, a machine-learning engineer.

Each step is a command as a user types it, with text that its output must have. `gone` numbers the defects that new
users found and that the step shows to be mended.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT, Command, environment, write
from test_ns3 import FLOWS, TOPOLOGY

FCT = ROOT / "tests" / "data" / "incast16_dcqcn_window.fct.txt"
"""Completion times of the HPCC authors' ns-3."""


@dataclass(frozen=True)
class Step:
    """A command (`incast …` or `python FILE`) and its output."""

    types: str
    has: Sequence[str] = ()
    lacks: Sequence[str] = ()
    code: int = 0
    gone: str = ""


def follow(steps: Sequence[Step], command: Command, folder: Path) -> None:
    """Type one command after the other; report every step whose output is wrong."""
    wrong = []
    for number, step in enumerate(steps, 1):
        program, *words = shlex.split(step.types.replace("FCT", shlex.quote(str(FCT))))
        done = command(*words) if program == "incast" else python(words, folder)
        # Lines are wrapped and pages have tags: only words count.
        text = " ".join((done.stdout + done.stderr).split())
        missing = [f"lacks `{one}`" for one in step.has if one not in text]
        missing += [f"has `{one}`" for one in step.lacks if one in text]
        missing += [f"exit code {done.returncode}, not {step.code}"] * (done.returncode != step.code)
        if missing:
            wrong.append(f"{number}. {step.types} ({step.gone})\n   {'; '.join(missing)}\n{text[:3000]}")
    assert not wrong, "\n\n".join(wrong)


def python(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the user."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


READ_PAGE = """\
import html, pathlib, re, sys
text = re.sub(r"(?s)<(script|style).*?</\\1>", "", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
print(html.unescape(re.sub("<[^>]+>", " ", text)))
"""
"""What a reader sees of a page without scripts."""

CONFIG = """\
RP_TIMER 300
EWMA_GAIN 0.00390625
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
FAST_RECOVERY_TIMES 1
KMIN_MAP 2 100000000000 400 400000000000 1600
KMAX_MAP 2 100000000000 1600 400000000000 6400
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE 32
HAS_WIN 1
VAR_WIN 1
ENABLE_QCN 1
"""
HPCC = f"CC_MODE 3\n{CONFIG}INT_MULTI 4\nU_TARGET 0.95\n"

RESEARCHER = {
    "topology.txt": TOPOLOGY,
    "flow.txt": FLOWS,
    "hpcc.txt": HPCC,
    "dcqcn.txt": f"CC_MODE 1\n{CONFIG}",
    "down.txt": f"{HPCC}LINK_DOWN 2000010 4 5\n",
    "bad.txt": "CC_MODE 3\nFOO 1\nBAR 2\n",
    "star.txt": "18 1 17\n17\n" + "".join(f"{host} 17 100Gbps 1us 0\n" for host in range(17)),
    "burst.txt": "16\n" + "".join(f"{host} 16 3 100 500000 2\n" for host in range(16)),
    "page.py": READ_PAGE,
    "texts.py": """\
import pathlib, re, sys
print(re.findall("<!-- (.*?) -->", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
""",
    "frames.py": """\
import incast
flows = incast.open("results/mine").flows
print("polars", flows.to_polars().shape[0], "pandas", len(flows.to_pandas()))
""",
}
IMPORT = "incast import ns3 --topology topology.txt --flows flow.txt"

FIRST_WAY = [
    Step(f"{IMPORT} --config hpcc.txt --config dcqcn.txt -o mine.toml", ["wrote mine.toml"], gone="18: one config"),
    Step(f"{IMPORT} --config bad.txt -o bad.toml", ["bad.txt:2:1", "`FOO`", "bad.txt:3:1", "`BAR`"], code=2, gone="18"),
    Step(f"{IMPORT} --config down.txt -o down.toml", ["LINK_DOWN: becomes network.failure"], gone="18: LINK_DOWN"),
    Step(
        "incast show mine.toml --set hpcc.eta=0.9",
        ["--set:1:1", "did you mean `scheme.HPCC.control.hpcc.eta`?"],
        code=2,
        gone="16",
    ),
    Step("incast show mine.toml --set scheme.HPCC.control.hpcc.eta=0.9", ["eta = 0.9"]),
    Step(
        "incast run mine.toml",
        ["HPCC: done, 2 s simulated, 3/3 flows", "up to 50kB 1 ", "up to 100kB 2 ", "no port was paused"],
        gone="5: bins",
    ),
    Step("incast run mine.toml --quiet -o again"),
    Step(
        "incast compare results/mine again --scheme HPCC", ["identical: all 3 flows finish at the same time"], gone="19"
    ),
    Step("incast compare results/mine --scheme HPCC --with DCQCN+w", ["first difference: flow 2 (h3 -> h0"], gone="19"),
    Step("incast import ns3 --topology star.txt --flows burst.txt -o incast16.toml"),
    Step("incast run incast16.toml --quiet -o incast16"),
    Step(
        "incast compare incast16 FCT --scheme DCQCN+w", ["identical: all 16 flows finish at the same time"], gone="19"
    ),
    Step("incast report results/mine", ["wrote results/mine.html"]),
    Step(
        "python page.py results/mine.html",
        ["What happened DCQCN+w completes", "kind ns3 nodes 4 hosts, 2 switches", "To repeat the run: incast run"],
        ["cannot be read", "cannot be worked out", "No such file"],
        gone="13, 23",
    ),
    Step(
        'incast plot results/mine --width 3.4 --height 2.6 --percentile p95 --title "My figure" -o figure.svg',
        ["wrote figure.svg"],
    ),
    Step("python texts.py figure.svg", ["My figure", "HPCC", "DCQCN+w", "95th percentile"], ["mine"], gone="7"),
    Step("python frames.py", ["polars 6 pandas 6"], gone="8"),
]

ENGINEER = {
    "clos.toml": "[fabric.leaf_spine]\nleaves = 8\nspines = 4\nhosts_per_leaf = 2\n",
    "load.toml": """\
[fabric.leaf_spine]
leaves = 2
spines = 1
hosts_per_leaf = 4
[[workload]]
label = "background"
[workload.poisson]
load = 0.6
sizes = "10kB"
duration = "50us"
[scheme.A]
control = "dcqcn"
[scheme.B]
control = "hpcc"
""",
    "page.py": READ_PAGE,
}
FAILURE = (
    """--set 'network.failure=[{link=["leaf0","spine0"],at="10us",until="20us"}]' --set network.reroute_after=5us """
    "--set switch.watchdog.enabled=true --set switch.watchdog.poll=1us"
)

SECOND_WAY = [
    Step("incast deadlock check clos.toml", ["no deadlock is possible", "one lossless priority is assumed"]),
    Step("incast list sections network.failure", ["link: list of text", "silent: number"], gone="14"),
    Step("incast list sections switch.watchdog", ["detection: time, default 200ms"], gone="14"),
    Step("incast list sections network failure", ["takes one name", "`network.failure`"], code=2, gone="14"),
    Step(
        "incast show load.toml",
        [
            "tier 1's uplinks: 143.7 % up, 143.7 % down",
            "warning workload[0].poisson.load (load.toml:8): background offers 144 % of the capacity of tier 1's",
            "for at most 100 % on every link, write `load = 0.417`",
        ],
        gone="3",
    ),
    Step(
        "incast show load.toml --set workload.0.poisson.load=0.4",
        ["`workload` is a list: for an entry, write `workload[0]`"],
        code=2,
    ),
    Step("incast show load.toml --set workload[0].poisson.load=0.417", lacks=["warning"], gone="3"),
    Step(
        "incast show load.toml --set switch.watchdog.enabled=true --set switch.watchdog.detection=1us",
        ["within the pause of an ordinary incast", 'write `watchdog.detection = "', "(all 2 schemes)"],
        gone="25: grouped",
    ),
    Step(
        "incast show load.toml --set simulation.horizon=20us",
        ["start after the end of the simulation at 20 us; leave out `simulation.horizon`, or write for instance "],
    ),
    Step(
        "incast show load.toml --set switch.headroom.bytes=1kB",
        ['lossless packets can be dropped; write `headroom = "computed"` (all 2 schemes)'],
        gone="25: grouped",
    ),
    Step(
        f"incast run load.toml {FAILURE} -o failed",
        ["- leaf0-spine0 was down from 10 us to 20 us:", "packets lost", "no port was paused"],
        ["1 pauses", "1 failures"],
        gone="23, 25",
    ),
    Step("incast report failed", ["wrote failed.html"]),
    Step(
        "python page.py failed.html",
        [
            "What happened leaf0-spine0 was down from 10 us to 20 us:",
            "Warnings workload[0].poisson.load",
            "1 failure, rerouting after 5 us; PFC watchdog: drop, detection 200 ms, restoration 200 ms, poll 1 us",
        ],
        gone="6, 23",
    ),
]

SPRAYED = """\
[fabric.leaf_spine]
leaves = 2
spines = 4
hosts_per_leaf = 4
host_rate = "400Gbps"
uplink_rate = "400Gbps"
[network]
load_balancing = "spray"
[rdma]
recovery = "selective-repeat"
[[workload]]
permutation.size = "500kB"
[scheme.DCQCN]
control = "dcqcn"
[scheme.HPCC]
control = "hpcc"
"""
LEARNER = {
    "spray.toml": SPRAYED,
    "fields.py": """\
import pydoc
from incast import schema
for kind in (schema.MoeAllToAll, schema.RingAllReduce):
    print(pydoc.render_doc(kind, renderer=pydoc.plaintext))
print(schema.Ranks(hosts=range(8)))
""",
    "warned.py": """\
import warnings
import incast
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    results = incast.load("spray.toml").run("python")
print(len(found), "issued;", results.warnings() == [str(one.message) for one in found])
print(results._repr_html_())
""",
}

THIRD_WAY = [
    Step("incast new mine.toml --template collective", ["wrote mine.toml"]),
    Step("incast show mine.toml", ["links of 3.6 Tb/s"], ["warning"], gone="1: NVLink by default; 17"),
    Step(
        "incast show mine.toml --set fabric.rail_optimized.nvlink=none",
        ["75 % of ring hops stay in one server but go over the fabric", "write `fabric.rail_optimized.nvlink = {}`"],
        gone="1: warning",
    ),
    Step(
        "incast run mine.toml -o ring",
        ["label allreduce 1920 ", "each size in one row"],
        ["up to 125kB 2", "warning"],
        gone="5",
    ),
    Step(
        "incast run spray.toml -o sprayed",
        [
            'for NICs of 400 Gb/s write `ai = "80Mbps"`, `hai = "800Mbps"` (scheme DCQCN)',
            'for NICs of 400 Gb/s write `ai = "200Mbps"` (scheme HPCC)',
            'which HPCC treats as one link; write `load_balancing = "ecmp"` (scheme HPCC)',
        ],
        ["were retransmissions, but none was lost"],
        gone="2, 17",
    ),
    Step(
        "incast run spray.toml --set rdma.reorder_window=0 -o late",
        ["were retransmissions, but none was lost", "reordering window, 0 packets; write `reorder_window = "],
        gone="2: warning",
    ),
    Step(
        "python fields.py",
        ["size: Data of each rank", "iterations: Iterations, at least 1", "Default 1.", "Ranks(hosts=range(0, 8))"],
        ["Data descriptors defined here: chunks None"],
        gone="9, 21",
    ),
    Step("python warned.py", ["3 issued; True", "<b>Warning"], gone="6"),
]


WAYS = {
    "researcher": (RESEARCHER, FIRST_WAY),
    "fabric engineer": (ENGINEER, SECOND_WAY),
    "machine-learning engineer": (LEARNER, THIRD_WAY),
}


@pytest.mark.parametrize("person", WAYS)
def test_way(person: str, command: Command, tmp_path: Path) -> None:
    files, steps = WAYS[person]
    for name, text in files.items():
        write(tmp_path, text, name)
    follow(steps, command, tmp_path)


def test_pages_name_no_placeholder() -> None:
    """README and tutorial have commands that work as they are (defects 8 and 26)."""
    for page in ("README.md", "docs/tutorial.md", "docs/howto/install.md"):
        assert "<this repository>" not in (ROOT / page).read_text(encoding="utf-8"), page
    installed = (ROOT / "requirements" / "demo.txt").read_text(encoding="utf-8")
    assert all(f"\n{name}==" in installed for name in ("matplotlib", "pandas", "polars"))
