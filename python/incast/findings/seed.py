"""Finding about the one seed of comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incast.charts.source import Source, read_scenario
from incast.findings.finding import COMPARISON, ORDERS, Finding

FIXED = ("ring_all_reduce", "tree_all_reduce", "all_to_all", "moe_all_to_all", "list")
"""Patterns that draw nothing, unless their ranks are drawn or skewed."""
WITHOUT_MARKS = {"unlimited", "hpcc", "swift", "timely", "timely_patched"}
"""Controls that neither read ECN marks nor draw numbers."""


def one_seed(source: Source, found: Sequence[Finding]) -> Iterator[Finding]:
    """The seed of the run, if a finding orders schemes: with other seeds, their order may differ.

    Not if the seed has no effect.
    """
    compared = {name for each in found if each.kind in ORDERS and len(each.schemes) > 1 for name in each.schemes}
    if compared and not is_without_effect(source):
        text = f"Schemes are compared with one seed ({source.seed}); a sweep over seeds shows if their order holds."
        yield Finding("seed", COMPARISON - 1, text, tuple(name for name in source.schemes if name in compared))


def is_without_effect(source: Source) -> bool:
    """True if certainly nothing in the scenario is random.

    That is: a star, where no path is chosen; patterns that draw nothing; no tenants, jitter or drawn failures; and no
    marks that a control reads.
    """
    return bool(source.results) and all(_draws_nothing(source, place) for place in range(len(source.results)))


def _draws_nothing(source: Source, place: int) -> bool:
    results = source.results[place]
    with read_scenario(results) as tree:
        if "star" not in tree["fabric"] or "vms" in tree or not all(map(_is_fixed, tree["workload"])):
            return False
        return all(
            _is_certain(tree, tree["scheme"][name], set(manifest["controls"]))
            for name, manifest in results.manifest["schemes"].items()
        )


def _is_fixed(entry: dict[str, Any]) -> bool:
    """True if a workload entry draws neither times, sizes nor hosts."""
    patterns = [name for name in FIXED if name in entry]
    if len(patterns) != 1:
        return False
    pattern = entry[patterns[0]]
    return patterns == ["list"] or ("ranks" not in pattern and pattern.get("skew", "uniform") == "uniform")


def _is_certain(tree: dict[str, Any], scheme: dict[str, Any], controls: set[str]) -> bool:
    """True if the network and the hosts of a scheme draw nothing that has an effect."""

    def of(section: str, name: str) -> Any:
        return scheme.get(section, {}).get(name, tree.get(section, {}).get(name))

    drawn = [*of("network", "failure"), *of("network", "pause")]
    return (
        (controls <= WITHOUT_MARKS or of("ecn", "enabled") is False)
        and "hpcc_pint" not in controls
        and of("host", "jitter") in ("0ps", "0s")
        and of("switch", "isolation")["enabled"] is False
        and not any("random" in each or "silent" in each for each in drawn)
    )
