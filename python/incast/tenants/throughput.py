"""Throughput over time, by VM, pair or tenant."""

from __future__ import annotations

from typing import Literal

from incast.charts.source import Source
from incast.results import Results
from incast.table import Given, Table
from incast.tenants.window import PAIRS, checked, parameters

BY = ("vm", "pair", "tenant")
By = Literal["vm", "pair", "tenant"]
Direction = Literal["receive", "send"]

RATES = (
    Given("payload_bps", "f64", "bit/s", "payload acknowledged, or received for UDP"),
    Given("wire_bps", "f64", "bit/s", "the same including headers and interframe gaps, to compare with guarantees"),
    Given("entitled_bps", "f64", "bit/s", "throughput that hoses guarantee, for the traffic that senders had"),
    Given("optimum_bps", "f64", "bit/s", "work-conserving optimum: max-min on the links, without guarantees"),
)
KEYS = {
    "pair": (
        Given("src_name", "name", None, "host of the sending VM"),
        Given("dst_name", "name", None, "host of the receiving VM"),
        Given("tenant", "name", None, "tenant of the VMs"),
    ),
    "tenant": (Given("tenant", "name", None, "tenant"),),
    "vm": (
        Given("name", "name", None, "host of the VM"),
        Given("tenant", "name", None, "tenant of the VM"),
        Given("vm", "i64", None, "number of the VM in its tenant, from 0"),
        Given("guarantee_bps", "i64", "bit/s", "hose guarantee in this direction; 0 for none"),
    ),
}


def throughput(results: Results, by: By = "vm", direction: Direction = "receive") -> Table:
    """Throughput in each interval between samples (`measure.sample_every`), one row for each VM, pair or tenant.

    Args:
        results: Results of a scenario with tenants.
        by: `vm` for the traffic that a VM receives or sends, `pair` for the traffic from one VM to another, `tenant`
            for the traffic among all VMs of a tenant. A VM, pair or tenant without an active flow has no row.
        direction: `receive` or `send`, for `by="vm"`.

    Raises:
        ResultsError: The scenario has no tenants.
        ValueError: `by` or `direction` is not valid.

    """
    if by not in BY:
        raise ValueError(f"by must be one of {', '.join(map(repr, BY))}, got {by!r}")
    if direction not in ("receive", "send"):
        raise ValueError(f"direction must be 'receive' or 'send', got {direction!r}")
    source = Source([results])
    checked(source, 0.0)
    fields = (
        Given("scheme", "name", None, "scheme"),
        Given("start_ps", "i64", "ps", "start of the interval"),
        Given("end_ps", "i64", "ps", "end of the interval"),
        *KEYS[by],
        *RATES,
    )
    try:
        rows = source.rows(_query(by, direction), parameters(source, 0.0))
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
