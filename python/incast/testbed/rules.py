"""Rules to be measured: as many as asked for, in T1, of which the packets' own are the last.

`map` is the form of the nftables export: a look-up of (ingress, egress) in a hash table. `chain` is the other way to
write the rules down, one line after the other, as a list of a switch's ACL has them. Linux reads such a chain in order,
and here it has to read all of it: every other rule is for the packets' tag and ingress port too and differs in the
egress port only, and each stands there twice, for IPv4 and IPv6.

The packets are IPv4 with tag 1, and keep it, as most packets of a fabric do. In both forms the last lines make lossy
what no rule has matched, so a packet that still has its tag was matched by the rule that is meant for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

Form = Literal["map", "chain"]

TAG = 1
"""Tag of the packets that are measured."""
CODE_POINT = 8 * TAG
"""Its DSCP, a class selector as in the export."""
HERE = ("swp1", "swp2")
"""The switch's ports that packets come by, each towards a host."""
LEAST = 2
"""Rules that packets need if there are any: one for each direction."""

HEAD = """\
table inet incast_tags
delete table inet incast_tags
table inet incast_tags {"""
HOOK = """\
    chain rewrite {
        type filter hook forward priority mangle; policy accept;"""
TAIL = "    }\n}\n"
FAMILIES = ("ip", "ip6")
NEW = f"""\
    chain to_{TAG} {{
        ip dscp set {CODE_POINT}
        ip6 dscp set {CODE_POINT}
        meta priority set 0:{TAG} accept
    }}"""
LOSSY = [f"        {family} dscp {{ {CODE_POINT} }} {family} dscp set 0 meta priority set 0:0" for family in FAMILIES]


def ruleset(rules: int, form: Form) -> str:
    """A file for `nft -f` with so many rules; for none, without a table: what a switch costs that knows no tags."""
    if rules == 0:
        return ""
    others = [f"swp{other}" for other in range(3, rules + 2)]
    if form == "chain":
        # One rule for both directions, by sets of ports: neither is cheaper than the other.
        return as_chain([*((HERE, (other,)) for other in others), (HERE, HERE)])
    return as_map([*((HERE[0], other) for other in others[1:]), HERE, HERE[::-1]])


def as_map(turns: Iterable[tuple[str, str]]) -> str:
    """Rules for (ingress, egress) that keep the tag, as the export writes them."""
    elements = [f'            "{ingress}" . "{egress}" : goto to_{TAG},' for ingress, egress in turns]
    opened = [f"    map from_{TAG} {{", "        type ifname . ifname : verdict", "        elements = {"]
    reads = [f"        {family} dscp {CODE_POINT} iifname . oifname vmap @from_{TAG}" for family in FAMILIES]
    return "\n".join((HEAD, NEW, *opened, *elements, "        }", "    }", HOOK, *reads, *LOSSY, TAIL))


def as_chain(turns: Iterable[tuple[Sequence[str], Sequence[str]]]) -> str:
    """Rules for sets of (ingress ports, egress ports) that keep the tag, to be read in order."""
    lines = [
        f"        {family} dscp {CODE_POINT} iifname {_set(ingress)} oifname {_set(egress)} "
        f"{family} dscp set {CODE_POINT} meta priority set 0:{TAG} accept"
        for ingress, egress in turns
        for family in FAMILIES
    ]
    return "\n".join((HEAD, HOOK, *lines, *LOSSY, TAIL))


def _set(ports: Sequence[str]) -> str:
    return f"{{ {', '.join(f'{chr(34)}{port}{chr(34)}' for port in ports)} }}"
