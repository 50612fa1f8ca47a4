"""Maps of open parameters: shares of the space, deciding parameters, common points; and errors, with the place."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import incast
from conftest import ROOT, Command
from incast import _quantity
from incast.study import StudyMap, map_writing, space
from incast.study.deciding import influences
from incast.study.description import OpenParameter
from incast.study.results import StudyResults
from incast.sweep import SweepProgress

KNOWN = ROOT / "tests" / "data" / "map"
"""One flow whose size and rate are open: 200 kB is the middle of the range, and the rate has two values."""
POINTS = 32


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """The study, to be changed."""
    return Path(shutil.copytree(KNOWN, tmp_path / "known"))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StudyMap:
    """Its map."""
    return incast.load_study(KNOWN).map(tmp_path_factory.mktemp("map") / "out", points=POINTS)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def content(out: Path) -> bytes:
    return (out / "map.json").read_bytes()


def test_a_claim_holds_where_its_bound_says(found: StudyMap) -> None:
    assert found.points[0] == {"size": "200kB", "rate": "100Gbps", "hosts": "two"}
    sizes = [_quantity.parsed(str(point["size"])) for point in found.points]
    expected = tuple("holds" if size and size[1] < 200_000 else "fails" for size in sizes)
    assert found["small"].verdicts == expected
    assert found["slow"].verdicts == tuple("holds" if point["rate"] == "10Gbps" else "fails" for point in found.points)
    # A Sobol sequence of a power of two has equally many points in each half, and in each quarter.
    assert [(claim.id, claim.holds, claim.points) for claim in found.claims] == [
        ("small", 16, 32), ("large", 8, 32), ("slow", 16, 32), ("any", 32, 32)
    ]  # fmt: skip
    # Wilson's interval of 16 of 32: 0.5 +- 1.96 sqrt(0.25 / 32 + 1.96^2 / (4 * 32^2)) / (1 + 1.96^2 / 32).
    assert (found["small"].low, found["small"].high) == pytest.approx((0.3363, 0.6637), abs=1e-4)


def test_the_parameter_of_the_bound_decides(found: StudyMap) -> None:
    assert {claim.id: claim.deciding for claim in found.claims} == {
        "small": ("size",), "large": ("size",), "slow": ("rate",), "any": ()
    }  # fmt: skip
    first = found["small"].influences[0]
    # All sizes of one group are below those of the other.
    assert (first.name, first.distance) == ("size", 1.0)
    assert first.p < 0.001


def test_chance_decides_nothing() -> None:
    parameter = OpenParameter(name="x", path="x", range=[0, 1], judged=0, why="", reason="")
    points = [{"x": number / 40} for number in range(40)]
    # Every other point holds: the distributions differ by one step of 1/20.
    (one,) = influences([parameter], points, [number % 2 == 0 for number in range(40)])
    assert one.distance == pytest.approx(0.05)
    assert one.p > 0.5
    assert influences([parameter], points, [True] * 40) == ()


def test_names_are_compared_by_total_variation() -> None:
    parameter = OpenParameter(name="x", path="x", values=["a", "b", "c"], judged="a", why="", reason="")
    points = [{"x": "abc"[number % 3]} for number in range(30)]
    (one,) = influences([parameter], points, [point["x"] != "b" for point in points])
    assert one.distance == 1.0


def test_statements_that_never_hold_together(found: StudyMap) -> None:
    together = found.together
    assert together.claims == ("small", "large", "slow")
    assert (together.all_hold, together.holds, together.nowhere) == ((), 2, ())
    assert together.conflicts == (("small", "large"),)
    best = found.points[together.best]
    assert best["rate"] == "10Gbps"
    text = "\n".join(map_writing.findings(found))
    assert "No single setting: at none of 33 points all 3 published statements and calibrations hold together." in text
    assert f"Most hold at point {together.best}: 2 of 3, with size {best['size']}, rate 10Gbps" in text
    assert "Contradict each other (each holds at some point, never both at the same point): small and large." in text


def test_statements_that_hold_together_at_a_point(known: Path, tmp_path: Path) -> None:
    change(known / "claims.toml", "above = 250", "above = 150")
    change(known / "study.toml", 'values = ["10Gbps", "100Gbps"]', 'values = ["5Gbps", "10Gbps", "100Gbps"]')
    found = incast.load_study(known).map(tmp_path / "out", points=16)
    for number in found.together.all_hold:
        point = found.points[number]
        size = _quantity.parsed(str(point["size"]))
        assert size is not None
        assert 150_000 < size[1] < 200_000
        assert point["rate"] != "100Gbps"
    assert found.together.all_hold
    assert "All 3 published statements and calibrations hold together at" in next(map_writing.findings(found))


def test_runs_of_several_points_are_there_once(known: Path, tmp_path: Path) -> None:
    text = (known / "study.toml").read_text(encoding="utf-8")
    (known / "study.toml").write_text(
        text.partition('[[open]]\nname = "size"')[0] + "[[open]]" + text.split("[[open]]")[2], encoding="utf-8"
    )
    found = incast.load_study(known).map(tmp_path / "out", points=16)
    assert len(found.sweeps["flow"].runs) == 2
    assert found["slow"].holds == 8


def test_a_map_goes_on_after_an_interruption(found: StudyMap, tmp_path: Path) -> None:
    def stop(_: str, progress: SweepProgress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    study, out = incast.load_study(KNOWN), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        study.map(out, points=POINTS, jobs=1, progress=stop)
    kept = {file: file.stat().st_mtime_ns for file in out.glob("flow/runs/*/flows.parquet")}
    assert 5 <= len(kept) < POINTS
    assert not (out / "map.json").exists()
    with pytest.raises(incast.ResultsError, match=r"the map is not finished: there is no map\.json"):
        incast.open_map(out)
    study.map(out, points=POINTS)
    assert content(out) == content(found.path)
    assert all(file.stat().st_mtime_ns == before for file, before in kept.items())


def test_more_points_keep_the_first(found: StudyMap, tmp_path: Path) -> None:
    study, out = incast.load_study(KNOWN), tmp_path / "out"
    few = study.map(out, points=5)
    assert few.points == found.points[:6]
    runs = {file: file.stat().st_mtime_ns for file in out.glob("flow/runs/*/flows.parquet")}
    study.map(out, points=POINTS)
    assert content(out) == content(found.path)
    assert all(file.stat().st_mtime_ns == before for file, before in runs.items())


def test_a_map_is_read_as_it_was_written(found: StudyMap) -> None:
    again = incast.open_map(found.path, "map")
    assert (again.axes, again.points, again.claims, again.together, again.manifest) == (
        found.axes, found.points, found.claims, found.together, found.manifest
    )  # fmt: skip
    page = (found.path / "map.html").read_text(encoding="utf-8")
    assert "small: holds at 16 of 32 points" in page
    table = (found.path / "map.md").read_text(encoding="utf-8")
    assert "| small | 16 of 32 points | 34 to 66 % | fails | size (1.00) | The flow has less than 200 kB |" in table


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("points", None, "'points'"),
        ("points", [], "33 verdicts of claim small at 0 points"),
        ("claims", ["small"], "not as incast writes it"),
        ("format", 0, "format 0, but this version of incast reads format 1"),
    ],
)
def test_a_damaged_map_is_refused(found: StudyMap, part: str, value: Any, says: str, tmp_path: Path) -> None:
    for name in ("study.json", "map.json"):
        shutil.copy(found.path / name, tmp_path)
    tree = json.loads(content(tmp_path))
    tree = {**tree, part: value} if value is not None else {name: tree[name] for name in tree if name != part}
    (tmp_path / "map.json").write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(incast.ResultsError, match=re.escape(says)) as caught:
        incast.open_map(tmp_path)
    assert str(tmp_path / "map.json") in str(caught.value)


def test_claims_have_their_setting_and_their_share(found: StudyMap, tmp_path: Path, command: Command) -> None:
    study, out = incast.load_study(KNOWN), tmp_path / "out"
    ran = study.run(out)
    setting = {"size": "200kB", "rate": "100Gbps", "hosts": "two"}
    assert [(claim.setting, claim.share_of_space) for claim in ran.claims] == [(setting, None)] * 4
    done = command("study", "export", out, "-o", tmp_path / "docs", "--map", found.path)
    assert done.returncode == 0, done.stderr
    page = next((tmp_path / "docs").glob("*.md")).read_text(encoding="utf-8")
    assert "\n## Map of open parameters\n" in page
    assert "| small | 16 of 32 points |" in page
    exported = json.loads(next((tmp_path / "docs").glob("*.claims.json")).read_text(encoding="utf-8"))
    assert {claim["id"]: claim["share_of_space"]["share"] for claim in exported["claims"]}["small"] == 0.5
    done = command("study", "judge", KNOWN, out, "--map", found.path)
    assert done.returncode == 0, done.stderr
    share = incast.open_study(out).claims["small"].share_of_space
    assert share is not None
    assert (share["share"], share["holds"], share["points"], share["judged"]) == (0.5, 16, 32, "fails")
    assert share["disagrees"] is False
    small = incast.open_study(out).claims["small"]
    assert small.spaced()[-1].endswith(" % of it)")
    otherwise = dataclasses.replace(small, verdict="holds").spaced()[-1]
    assert otherwise.endswith(
        " % of it), but in the map's own, smaller runs it fails at the judged setting: the map does not speak about "
        "this claim"
    )
    assert "holds at 16 of 32 points of the space of open parameters" in done.stdout
    assert "Holds at 16 of 32 points" in (out / "claims.md").read_text(encoding="utf-8")
    assert "Holds at 16 of 32 points" in (out / "report.html").read_text(encoding="utf-8")


def test_the_page_marks_claims_that_the_map_judges_otherwise(found: StudyMap) -> None:
    # At the judged setting the map has: small fails, large fails, slow fails, any holds.
    verdicts = {"small": "holds", "large": "fails", "slow": "undecided", "any": "not measured"}
    claims = [SimpleNamespace(id=name, verdict=verdict) for name, verdict in verdicts.items()]
    page = list(map_writing.section(found, cast(StudyResults, SimpleNamespace(scale="paper", claims=claims))))
    assert "The map has runs of its own, smaller than those of scale paper above: one run at each point." in page
    assert any(line.startswith("Claims marked † have another verdict in these runs than in the study") for line in page)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page if " of 32 points |" in line]
    assert [(row[0].partition(",")[0], row[3], row[4]) for row in cells] == [
        ("small†", "fails", "holds"), ("large", "fails", "fails"), ("slow†", "fails", "undecided"),
        ("any", "holds", "not measured"),
    ]  # fmt: skip
    share = found["small"].share_of_space("holds")
    assert share is not None
    assert share["disagrees"] is True
    assert not any("†" in line for line in map_writing.findings(found))


def test_command(command: Command, tmp_path: Path) -> None:
    done = command("study", "map", KNOWN, "--points", 4, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("map: 4 points and the judged setting, 5 runs; one run at each point\n")
    assert re.search(r"\n    small +2 of 4 points ", done.stdout)
    shown = command("study", "show", "out")
    assert shown.stdout in done.stdout
    tree = json.loads(command("study", "show", "out", "--format", "json").stdout)
    assert tree == json.loads(content(tmp_path / "out"))
    described = command("study", "show", KNOWN).stdout
    assert (
        "    size: 100kB to 300kB (the text says about 200 kB)\n        judged: 200kB (nearest the text)" in described
    )
    for arguments, says in (
        (("study", "judge", KNOWN, "out"), "a map of open parameters; `incast study map` checks its claims"),
        (("study", "run", KNOWN, "-o", "out"), "out has study map at scale map, not map at scale quick"),
        (("study", "map", KNOWN, "--points", 0), "points"),
        (("report", "out", "-o", "page.html"), "a map of open parameters, which `incast study show` prints"),
    ):
        refused = command(*arguments)
        assert refused.returncode == 2
        assert says in refused.stderr


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (("size", 187_654.0), "187.7kB"), (("size", 999.6), "1kB"), (("time", 1.5e6), "1.5us"),
        (("rate", 25e9), "25Gbps"), (("time", 0.4), "0ps"),
    ],
)  # fmt: skip
def test_quantities_are_written_with_four_digits(value: tuple[_quantity.Kind, float], text: str) -> None:
    assert _quantity.written(*value) == text


def test_quantities_are_read() -> None:
    assert _quantity.parsed("64kB") == ("size", 64_000)
    assert _quantity.parsed("1.5 MiB") == ("size", 1.5 * 2**20)
    assert _quantity.parsed("20ms") == ("time", 2e10)
    assert [_quantity.parsed(text) for text in ("5\N{MICRO SIGN}s", "2 Gb/s", "7bit/s")] == [
        ("time", 5e6), ("rate", 2e9), ("rate", 7)
    ]  # fmt: skip
    assert [_quantity.picoseconds(text) for text in ("1.5us", "none", "5kB")] == [1_500_000, None, None]
    assert [_quantity.parsed(text) for text in ("ecmp", "10", "5 apples", "-3us")] == [None] * 4


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ({"range": ["16MiB", "64MiB"], "log": True}, ["16.78MB", "33.55MB", "64MiB"]),
        ({"range": [0.1, 0.6]}, [0.1, 0.35, 0.6]),
        ({"range": [1, 4], "integer": True}, [1, 3, 4]),
        ({"range": [8, 32], "integer": True, "log": True}, [8, 16, 32]),
        ({"values": ["a", "b"]}, ["a", "b", "b"]),
    ],
)
def test_values_at_both_ends_and_in_the_middle(fields: dict[str, Any], values: list[object]) -> None:
    parameter = OpenParameter(name="x", path="x", judged=0, why="", reason="", **fields)
    assert [space.at(parameter, share) for share in (0.0, 0.5, 1.0)] == values


def without(section: str) -> Callable[[Path], None]:
    """Remove a section of study.toml."""

    def act(folder: Path) -> None:
        text = (folder / "study.toml").read_text(encoding="utf-8")
        before, _, rest = text.partition(f"[{section}]")
        (folder / "study.toml").write_text(before + rest.partition("\n\n")[2], encoding="utf-8")

    return act


def test_a_study_without_open_parameters_or_size_has_no_map(known: Path, command: Command, tmp_path: Path) -> None:
    without("scale.map")(known)
    done = command("study", "map", known)
    assert done.returncode == 2
    assert "study known has no size for maps" in done.stderr
    assert "[scale.map] in study.toml" in done.stderr
    text = (known / "study.toml").read_text(encoding="utf-8")
    (known / "study.toml").write_text(text.partition("[[open]]")[0], encoding="utf-8")
    done = command("study", "map", known)
    assert done.returncode == 2
    assert "study known declares no open parameters" in done.stderr
    assert not (tmp_path / "results").exists()


ERRORS = {
    "a field": ('why = "rates', 'wyh = "rates', "wyh", ("unknown field `wyh`", "did you mean `why`")),
    "a name twice": ('name = "rate"', 'name = "size"', 'name = "size"', ("two open parameters `size`",)),
    "a path": ("fabric.star.rate", "fabric.star.raet", "raet", ("unknown field `raet`", "did you mean `rate`")),
    "a path of a point": ('"fabric.star.hosts"', '"fabric.star.hots"', "hots", ("unknown field `hots`", "`hosts`")),
    "a scheme's path": ("fabric.star.rate", "scheme.B.window", "scheme.B", ("` has no effect in any sweep",)),
    "a value": ('["10Gbps", "100Gbps"]', '["10MB", "100Gbps"]', "10MB", ("sweep `flow` does not accept `10MB`",)),
    "a point's value": ('"fabric.star.hosts" = 4', '"fabric.star.hosts" = 0', "[[open.points]]", ("accept `four`",)),
    "an end of the range": (
        'values = ["10Gbps", "100Gbps"]', 'range = ["0bps", "100Gbps"]', "range", ("`flow` does not accept `0bps`",)
    ),
    "ends of two kinds": ('["100kB", "300kB"]', '["100kB", "3us"]', "range", ("this is no range",)),
    "an empty range": ('["100kB", "300kB"]', '["300kB", "300kB"]', "range", ("the range is empty",)),
    "a logarithm of 0": ('["100kB", "300kB"]', '["0B", "300kB"]\nlog = true', "range", ("`0B` has no logarithm",)),
    "no whole numbers": ('"300kB"]', '"300kB"]\ninteger = true', "range", ("these are no whole numbers",)),
    "a logarithm of values": ('"100Gbps"]', '"100Gbps"]\nlog = true', "log", ("`log` belongs to `range`",)),
    "one value": ('["10Gbps", "100Gbps"]', '["100Gbps"]', "values", ("an open parameter needs several values",)),
    "a value twice": ('["10Gbps", "100Gbps"]', '["100Gbps", "100Gbps"]', "values", ("`100Gbps` is given twice",)),
    "values and a range": ('"100Gbps"]', '"100Gbps"]\nrange = [1, 2]', "values", ("not range and values",)),
    "neither": ('values = ["10Gbps", "100Gbps"]\n', "", "[[open]]", ("has one of these, not none",)),
    "no path": ('path = "fabric.star.rate"\n', "", "[[open]]", ("no `path` names the field of the scenario",)),
    "judged outside": ('judged = "200kB"', 'judged = "400kB"', "judged", ("not in the plausible range", "100kB to")),
    "judged not a value": ('judged = "100Gbps"', 'judged = "40Gbps"', "judged", ("`40Gbps` is not among",)),
    "judged not a point": ('judged = "two"', 'judged = "tow"', "judged", ("`tow` is not among", "did you mean `two`")),
    "judged not run": (
        'judged = "200kB"',
        'judged = "150kB"',
        "judged",
        ("sweep `flow` at scale quick has workload[0].list[0].size = \"200kB\"",),
    ),
    "a sweep": ('judged = "two"', 'judged = "two"\nsweeps = ["flwo"]', "flwo", ("unknown sweep `flwo`", "`flow`")),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "at", "says"), ERRORS.values(), ids=ERRORS)
def test_errors_show_their_place(old: str, new: str, at: str, says: tuple[str, ...], known: Path) -> None:
    change(known / "study.toml", old, new)
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load_study(known)
    for part in says:
        assert part in str(caught.value), str(caught.value)
    assert caught.value.line is not None, str(caught.value)
    line = (known / "study.toml").read_text(encoding="utf-8").splitlines()[caught.value.line - 1]
    assert at in line, str(caught.value)


def test_a_sweep_that_varies_the_field_is_left_out(known: Path) -> None:
    text = '[[vary]]\npath = "fabric.star.rate"\nvalues = ["100Gbps"]\n'
    (known / "flow.toml").write_text(f'scenario = "star.toml"\n{text}\n[scale.quick]\n[scale.map]\n', encoding="utf-8")
    with pytest.raises(incast.ScenarioError, match=r"`fabric\.star\.rate` has no effect in any sweep: each varies it"):
        incast.load_study(known)


def test_an_axis_may_set_a_table_that_has_the_field(known: Path) -> None:
    """Only if each of its points has the judged value there, the map sets the field."""
    list_of = '{{ list = [{{ src = 0, dst = 1, size = "{}" }}] }}'
    text = '[[vary]]\nname = "lists"\n[[vary.points]]\nname = "one"\n[[vary.points]]\nname = "again"\n'
    for size, sweeps in (("200kB", ["flow"]), ("300kB", None)):
        again = f"set.workload = [{list_of.format(size)}]\n"
        file = f'scenario = "star.toml"\n{text}{again}\n[scale.quick]\n[scale.map]\n'
        (known / "flow.toml").write_text(file, encoding="utf-8")
        if sweeps:
            assert len(incast.load_study(known).plan_map(2).of_points[1]["flow"].runs) == 2
        else:
            with pytest.raises(
                incast.ScenarioError, match=r"`workload\[0\]\.list\[0\]\.size` has no effect in any sweep"
            ):
                incast.load_study(known)


def test_a_point_whose_values_do_not_fit_together(known: Path, command: Command, tmp_path: Path) -> None:
    change(known / "star.toml", "hosts = 2", "hosts = 4")
    change(known / "star.toml", "dst = 1", "dst = 3")
    change(known / "study.toml", 'set."fabric.star.hosts" = 4', 'set."workload[0].list[0].src" = 3')
    done = command("study", "map", known, "-o", "out")
    assert done.returncode == 2, done.stderr
    assert re.search(r"sweep flow at point \d of the map \(size [\d.]+kB, rate .*, hosts four\)", done.stderr)
    assert not (tmp_path / "out").exists()
