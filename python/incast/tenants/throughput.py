"""Throughput over time, by VM, pair or tenant."""

from __future__ import annotations

from typing import Literal

from incast.charts.source import Source
from incast.results import Results
from incast.table import Given, Table
from incast.tenants.window import PAIRS, checked

BY = ("vm", "pair", "tenant")
By = Literal["vm", "pair", "tenant"]
Direction = Literal["receive", "send"]

RATES = (
    Given("payload_bps", "f64", "bit/s", "payload acknowledged; of UDP, received"),
    Given("wire_bps", "f64", "bit/s", "the same with headers and the gaps between packets: what guarantees are of"),
    Given("entitled_bps", "f64", "bit/s", "the least that hoses guarantee for what there was to send"),
    Given("optimum_bps", "f64", "bit/s", "the work-conserving optimum: max-min on the links, without guarantees"),
)
KEYS = {
    "pair": (
        Given("src_name", "name", None, "the sending VM's host"),
        Given("dst_name", "name", None, "the receiving VM's host"),
        Given("tenant", "name", None, "their tenant"),
    ),
    "tenant": (Given("tenant", "name", None, "the tenant"),),
    "vm": (
        Given("name", "name", None, "the VM's host"),
        Given("tenant", "name", None, "its tenant"),
        Given("vm", "i64", None, "its number within the tenant, from 0"),
        Given("guarantee_bps", "i64", "bit/s", "its hose in this direction; 0 for none"),
    ),
}


def throughput(results: Results, by: By = "vm", direction: Direction = "receive") -> Table:
    """Throughput in every interval between samples (`measure.sample_every`), a row for each VM, pair or tenant.

    Args:
        results: Of a scenario with tenants.
        by: What is summed up: what a VM receives or sends, what one VM sends another, what all VMs of a tenant send
            each other. A VM, pair or tenant without a flow under way has no row.
        direction: Whether VMs are looked at as receivers or as senders; nothing else depends on it.

    Raises:
        ResultsError: The scenario has no tenants.
        ValueError: `by` or `direction` is none of those.

    """
    if by not in BY:
        raise ValueError(f"by={by!r}: one of {', '.join(map(repr, BY))} is meant")
    if direction not in ("receive", "send"):
        raise ValueError(f"direction={direction!r}: 'receive' or 'send' is meant")
    source = Source([results])
    checked(source, 0.0)
    fields = (
        Given("scheme", "name", None, "the scheme simulated"),
        Given("start_ps", "i64", "ps", "when the interval began"),
        Given("end_ps", "i64", "ps", "when it ended"),
        *KEYS[by],
        *RATES,
    )
    try:
        rows = source.rows(_query(by, direction), {"skip": 0.0})
    finally:
        source.close()
    return Table.of_rows("throughput", fields, source.by_scheme(rows))


def _query(by: By, direction: Direction) -> str:
    end = "dst" if direction == "receive" else "src"
    rates = ", ".join(
        f"sum({column}) * 8e12 / any_value(end_ps - start_ps) as {column}"
        for column in ("payload_bytes", "wire_bytes", "guaranteed_bytes", "optimum_bytes")
    )
    if by == "vm":
        return (
            f"{PAIRS} select pairs.scheme, start_ps, end_ps, name, any_value(ends.tenant), any_value(vm), "
            f"any_value({direction}_bps), {rates} from pairs join ends on ends.scheme = pairs.scheme and host = {end} "
            "group by pairs.scheme, start_ps, end_ps, name, host order by start_ps, host"
        )
    if by == "pair":
        return (
            f"{PAIRS} select scheme, start_ps, end_ps, src_name, dst_name, any_value(tenant), {rates} from pairs "
            "group by scheme, start_ps, end_ps, src_name, dst_name, src, dst order by start_ps, src, dst"
        )
    return (
        f"{PAIRS} select scheme, start_ps, end_ps, tenant, {rates} from pairs where tenant is not null "
        "group by scheme, start_ps, end_ps, tenant order by start_ps, tenant"
    )
