"""Smaller SVG files of Matplotlib's figures, for repositories: the same picture in about half the bytes."""

from __future__ import annotations

import re
from collections import Counter

_COMMENT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_LINE = re.compile(r"\s*\n\s*")
_FINE = re.compile(r"(\d\.\d\d)\d+")
"""A number with more than 1/100 of a point."""
_ID = re.compile(r' id="([\w-]+)"')
_USE = re.compile(r"""(url\(|href=")#([\w-]+)""")
_STYLE = re.compile(r' style="([^"]*)"')
_GROUP = re.compile(r"<g>\s*(<(?:use|path)\b[^<]*?/>)\s*</g>")
"""A group of one."""


def smaller(svg: str) -> str:
    """The same picture: styles that repeat become classes; unused names, comments and groups of one go."""
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
    return _GROUP.sub(r"\1", svg.replace("</style>", f"{rules}</style>", 1))
