"""Whether each VM got what it was promised."""

from __future__ import annotations

from incast.charts.source import Source
from incast.results import Results
from incast.table import Given, Table
from incast.tenants.window import PAIRS, SKIP, checked

FIELDS = (
    Given("scheme", "name", None, "the scheme simulated"),
    Given("name", "name", None, "the VM's host"),
    Given("tenant", "name", None, "its tenant"),
    Given("vm", "i64", None, "its number within the tenant, from 0"),
    Given("direction", "name", None, "whether it is what the VM receives or what it sends"),
    Given("guarantee_bps", "i64", "bit/s", "its hose in this direction"),
    Given(
        "entitled_bps", "f64", "bit/s", "mean of what static reservation would have carried of what there was to send"
    ),
    Given("wire_bps", "f64", "bit/s", "what it got, headers and gaps between packets included, mean"),
    Given("payload_bps", "f64", "bit/s", "what it got, payload alone, mean"),
    Given("optimum_bps", "f64", "bit/s", "the work-conserving optimum, mean"),
    Given("satisfaction", "f64", None, "wire_bps / entitled_bps: below 1 the guarantee was not kept"),
    Given("worst", "f64", None, "the same in the worst interval between samples"),
)


def guarantees(results: Results, *, skip: float = SKIP) -> Table:
    """Whether each VM with a guarantee got it: one row for each scheme, VM and direction in which it had something.

    A VM is entitled to what an ideal static reservation would have carried: the max-min shares of all hoses among the
    pairs that had something to send, and no more than that was. A VM whose only sender has a smaller hose, or little to
    send, is not owed its own hose in full.

    Args:
        results: Of a scenario with tenants.
        skip: Share of the run that is left out at its beginning, 0 or more and less than 1.

    Raises:
        ResultsError: The scenario has no tenants.
        ValueError: `skip` is out of range.

    """
    source = Source([results])
    checked(source, skip)
    try:
        received, sent = (
            source.rows(_query(end, word), {"skip": skip}) for end, word in (("dst", "receive"), ("src", "send"))
        )
    finally:
        source.close()
    return Table.of_rows("guarantees", FIELDS, source.by_scheme(received + sent))


def _query(end: str, direction: str) -> str:
    return f"""{PAIRS},
        intervals as (
            select pairs.scheme, name, any_value(ends.tenant) as tenant, any_value(vm) as vm, host,
                any_value({direction}_bps) as guarantee, end_ps - start_ps as span, sum(wire_bytes) as wire,
                sum(payload_bytes) as payload, sum(guaranteed_bytes) as entitled, sum(optimum_bytes) as optimum
            from pairs join ends on ends.scheme = pairs.scheme and host = {end}
            where counts group by pairs.scheme, name, host, start_ps, end_ps)
        select scheme, name, any_value(tenant), any_value(vm), '{direction}', any_value(guarantee),
            sum(entitled) * 8e12 / sum(span), sum(wire) * 8e12 / sum(span), sum(payload) * 8e12 / sum(span),
            sum(optimum) * 8e12 / sum(span), sum(wire) / sum(entitled), min(wire / entitled) filter (entitled > 0)
        from intervals group by scheme, name, host having any_value(guarantee) > 0 and sum(entitled) > 0
        order by any_value(tenant), any_value(vm)"""
