"""Smaller SVG files of Matplotlib's figures, for repositories: the same picture in half the bytes."""

from __future__ import annotations

import re
from collections import Counter

_COMMENT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_LINE = re.compile(r"\s*\n\s*")
_FINE = re.compile(r"(\d\.\d\d)\d+")
"""A number with more than 1/100 of a point."""
_PLACE = re.compile(r' (?:d|x|y|transform)="[^"]*"')
"""Numbers of places."""
_ZEROS = re.compile(r"(?<=\d)(?:\.0+|(\.\d)0)(?![\d.])")
"""Zeros at the end of a number."""
_DATA = re.compile(r' d="[^"]*"')
"""Data of a path."""
_TURN = re.compile(r' transform="rotate\(-0 [^"]*"')
"""A rotation by nothing."""
_USES = re.compile(r'(?:<use [^>]*? class="(\w+)"/>\n)(?:<use [^>]*? class="\1"/>\n)+')
"""Marks with one style."""
_TAG = re.compile(r"<(/?)g\b([^>]*)>\n?")
_ID = re.compile(r' id="([\w-]+)"')
_USE = re.compile(r"""(url\(|href=")#([\w-]+)""")
_STYLE = re.compile(r' style="([^"]*)"')


def smaller(svg: str) -> str:
    """The same picture: styles that repeat become classes; unused names, comments and groups without attributes go."""
    svg = _FINE.sub(r"\1", _LINE.sub("\n", _COMMENT.sub("", svg)))
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = _ID.sub(lambda found: found[0] if found[1] in used else "", svg)
    # Matplotlib makes names of paths from their place, with more digits than are written here.
    names = {name: f"n{number}" for number, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    svg = _ID.sub(lambda found: f' id="{names[found[1]]}"', svg)
    svg = _USE.sub(lambda found: f"{found[1]}#{names.get(found[2], found[2])}", svg)
    counts = Counter(_STYLE.findall(svg))
    classes = {style: f"c{number}" for number, (style, count) in enumerate(counts.items()) if count > 1}
    svg = _STYLE.sub(lambda found: f' class="{classes[found[1]]}"' if found[1] in classes else found[0], svg)
    rules = "".join(f".{name}{{{style}}}" for style, name in classes.items())
    svg = _without_groups(svg.replace("</style>", f"{rules}</style>", 1))
    svg = _TURN.sub("", svg).replace("xlink:href=", "href=")
    svg = _PLACE.sub(lambda place: _ZEROS.sub(lambda found: found[1] or "", place[0]), svg)
    svg = _USES.sub(_shared, svg)
    return _DATA.sub(lambda found: re.sub(r"\s*([A-Za-z])\s*", r"\1", found[0][4:-1]).join((' d="', '"')), svg)


def _shared(uses: re.Match[str]) -> str:
    own = f' class="{uses[1]}"'
    return f"<g{own}>\n{uses[0].replace(own, '')}</g>\n"


def _without_groups(svg: str) -> str:
    """Groups that only group."""
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        if found[2].endswith("/"):
            return ""
        if not found[1]:
            kept.append(bool(found[2]))
            return found[0] if kept[-1] else ""
        return found[0] if kept.pop() else ""

    return _TAG.sub(tag, svg)
