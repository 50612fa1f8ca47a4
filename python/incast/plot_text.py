"""Text of figures: legends, titles and labels that fit on the page, and pages that are too small for them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from incast._library import needed
from incast.errors import ResultsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure

COLUMNS = 4
"""Columns of a legend at most."""
TITLE_OF_LEGEND = 0.94
"""Largest width of a legend's title, as a part of the figure's; the legend has margins (our choice)."""
LEAST_SIZES = {"width": 2.0, "height": 0.5}
"""Inches of the smallest figure (our choice): titles and ticks overlap in a narrower one."""
NARROW = 4.0
"""Inches below which a figure has small text: a column of a paper is narrower."""
SMALL = 8.0
"""Points of small text (our choice; most templates set captions at 8 to 9)."""
SLANT = 40
"""Degrees of slanted labels of ticks."""
LINE = 1.3
"""Height of a line relative to the size of its text, with some space (our choice)."""
BESIDE = 0.5
"""Inches that vertical labels need next to a panel (our choice)."""
GAP = 0.5
"""Least distance of labels of ticks next to each other, relative to the size of their text (our choice)."""
MARGIN = 0.2
"""Places at the ends of an axis of names (our choice)."""
LEAST_PANEL = 0.15
"""Inches of the smallest panel (our choice): a smaller one shows nothing."""
COMPACT = (1.4, 1.5)
"""Inches across one of several panels, and of a row without `AROUND`; smaller panels have small texts (our choice)."""
AROUND = 1.0
"""Inches for title, labels and legend around panels (our choice)."""
GUTTER = 0.15
"""Half of the space between panels side by side, relative to the width of a panel (our choice)."""
SHARED = "shared"
"""Mark of a title that stands below several panels."""
PLAIN = (1e-3, 1e4)
"""Range of a logarithmic axis without powers of ten (our choice)."""
BREAK = re.compile(r"(?<!\d)\s+|\s+(?![^\W\d]{1,3}\b|%)")
"""Space where a line may end: not between a number and a short word, such as a unit."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class TooSmallError(ResultsError):
    """A figure is too small for its panels and texts."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(
            f"{width:.3g} x {height:.3g} inches are too small for the panels and texts of this chart: choose a larger "
            "width or height"
        )
        self.height = height


def inches_of(name: str, given: float | None, usual: float) -> float:
    """Width or height of a figure.

    Raises:
        ResultsError: It is too small.

    """
    least = LEAST_SIZES[name]
    inches = usual if given is None else given
    if not inches >= least:
        raise ResultsError(f"{name} must be at least {least:g} inches, got {inches:g}")
    return inches


def text_size(inches: float) -> dict[str, float]:
    """Settings of the text of a figure so wide; ticks are made with them when it is drawn as well.

    `$` in a name or a title is a character, not the begin of a formula.
    """
    return {"text.parse_math": False, **({"font.size": SMALL} if inches < NARROW else {})}


def add_legend(figure: Figure | SubFigure, handles: dict[str, Any], title: str | None = None) -> None:
    """A legend below the panels, in as many columns as the figure is wide enough for; its title has lines as needed."""
    most = figure.bbox.width
    if title:
        probe = figure.text(0, 0, title)
        _break(figure, probe, TITLE_OF_LEGEND * most)
        title = str(probe.get_text())
        probe.remove()
    for columns in range(min(len(handles), COLUMNS), 0, -1):
        legend = figure.legend(handles.values(), handles.keys(), title=title, alignment="left",
                               loc="outside lower center", frameon=False, ncols=columns)  # fmt: skip
        if legend.get_window_extent(_renderer(figure)).width <= most or columns == 1:
            break
        legend.remove()
    # One name may be wider than the figure; the widest makes the legend's width.
    texts = legend.get_texts()
    widest = max(_width(figure, text) for text in texts)
    margins = legend.get_window_extent(_renderer(figure)).width - widest
    names = [text.get_text() for text in texts]
    for text in texts:
        _shorten(figure, text, most - margins, names)


def add_title(figure: Figure | SubFigure, title: str) -> None:
    """A title above the panels, in as many lines as it needs."""
    most = 0.98 * figure.bbox.width
    above = figure.suptitle(title, x=0.01, ha="left", fontsize="medium")
    _break(figure, above, most)
    _shorten(figure, above, most)


def label_powers(axis: Axis) -> None:
    """Labels of a logarithmic axis without formulas, which `text_size` turns off: 10, or 10⁴ on a long axis."""
    ticker = needed("matplotlib.ticker", "drawing")

    class Powers(ticker.LogFormatterSciNotation):  # type: ignore[misc, name-defined]
        def __call__(self, x: float, pos: int | None = None) -> str:
            if not super().__call__(x, pos):
                return ""
            low, high = sorted(self.axis.get_view_interval())
            if low >= PLAIN[0] and high <= PLAIN[1]:
                return f"{x:g}"
            exponent = math.floor(math.log10(x) + 1e-9)
            power = f"10{str(exponent).translate(RAISED)}"
            factor = f"{x / 10**exponent:.3g}"
            return power if factor == "1" else f"{factor}·{power}"

    axis.set_major_formatter(Powers())
    axis.set_minor_formatter(Powers(labelOnlyBase=False, minor_thresholds=(1.5, 0.5)))


def fit_labels(figure: Figure) -> None:
    """Break titles and labels of axes that are longer than the axes, after the panels have their places.

    Words of titles that are longer still are shortened. If labels of ticks would overlap, the axis has fewer ticks.
    """
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    words = sorted({word for title in titles for word in title.split()})
    # A title wider than its panel would take the panel's place.
    for axes, title in zip(figure.axes, titles, strict=True):
        axes.set_title(title[:1], loc="left", fontsize="medium")
    with fitting(figure):
        figure.draw_without_rendering()
    for axes, title in zip(figure.axes, titles, strict=True):
        _thin(figure, axes)
        extent = axes.get_window_extent()
        if title:
            text = axes.set_title(title, loc="left", fontsize="medium")
            _break(figure, text, extent.width)
            _shorten_lines(figure, text, extent.width, words)
        if axes.xaxis.label.get_gid() != SHARED:
            _break(figure, axes.xaxis.label, extent.width)
        label = axes.yaxis.label
        label.set_rotation(0)
        _break(figure, label, extent.height)
        label.set_rotation(90)
    logarithmic = [axes.yaxis for axes in figure.axes if axes.yaxis.get_scale() == "log"]
    if logarithmic:
        # The lines of other texts have moved the panels.
        figure.draw_without_rendering()
    for axis in logarithmic:
        _thin_upright(figure, axis)


def slanted_ticks(figure: Figure | SubFigure, columns: int) -> int:
    """Number of slanted labels that fit next to each other below a panel, with so many panels side by side."""
    points: float = needed("matplotlib", "drawing").rcParams["font.size"]
    panel = _inches_across(figure, columns)
    return max(1, math.floor(panel * 72 * math.sin(math.radians(SLANT)) / (LINE * points)))


def level_ticks(figure: Figure | SubFigure, columns: int, texts: Iterable[str]) -> int:
    """Number of level labels that fit next to each other below a panel, with so many panels side by side."""
    probe = figure.text(0, 0, "")
    widest = 0.0
    for text in texts:
        probe.set_text(text)
        widest = max(widest, _width(figure, probe))
    gap = GAP * float(probe.get_fontsize()) / 72 * figure.dpi
    probe.remove()
    return 1 + math.floor(_inches_across(figure, columns) * figure.dpi / (widest + gap))


def small(figure: Figure | SubFigure, rows: int, columns: int) -> bool:
    """True if panels in so many rows and columns have little space."""
    row = (float(figure.bbox.height) / figure.dpi - AROUND) / rows
    return (columns > 1 and _inches_across(figure, columns) < COMPACT[0]) or row < COMPACT[1]


def title_below(panels: Sequence[Axes], text: str, *, shared: bool) -> None:
    """The title of the horizontal axes of panels side by side: of each, or one below the middle of all."""
    if not shared or len(panels) == 1:
        for axes in panels:
            axes.set_xlabel(text)
        return
    middle = panels[(len(panels) - 1) // 2]
    middle.set_xlabel(text, gid=SHARED, x=0.5 if len(panels) % 2 else 1 + GUTTER)


def _inches_across(figure: Figure | SubFigure, columns: int) -> float:
    """Width of a panel, with so many side by side."""
    return float(figure.bbox.width) / figure.dpi / columns - BESIDE


def names_below(axes: Axes, names: list[str], columns: int) -> tuple[list[str], dict[str, Any]]:
    """Names at places below a panel, with so many panels side by side, and how they are set.

    They are level, in lines, where each word fits its place, if need be in small text; else slanted, or upright if
    there are many.
    """
    figure = axes.figure
    usual = float(needed("matplotlib", "drawing").rcParams["font.size"])
    place = _inches_across(figure, columns) / (len(names) + MARGIN) * figure.dpi
    for points in (usual, SMALL):
        if level := _in_lines(figure, names, place, points):
            return level, {"fontsize": points}
    if len(names) <= slanted_ticks(figure, columns):
        return names, {"rotation": SLANT, "ha": "right"}
    return names, {"rotation": 90}


def _in_lines(figure: Figure | SubFigure, names: list[str], place: float, points: float) -> list[str]:
    """Names broken into lines that fit places of so many pixels, in text of so many points; empty if one does not."""
    # Between single words, half the gap suffices.
    most = place - GAP * (1 if any(" " in name for name in names) else 0.5) * points / 72 * figure.dpi
    probe = figure.text(0, 0, "", fontsize=points)
    lines = []
    for name in names:
        probe.set_text(name)
        _break(figure, probe, most)
        if _width(figure, probe) > most:
            break
        lines.append(probe.get_text())
    probe.remove()
    return lines if len(lines) == len(names) else []


@contextmanager
def fitting(figure: Figure) -> Iterator[None]:
    """Draws a figure in the block.

    Raises:
        ResultsError: The figure is too small for its panels and texts.

    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="constrained_layout not applied")
        try:
            yield
            sizes = [size for axes in figure.axes if axes.get_visible() for size in axes.get_window_extent().size]
            small = min(sizes, default=math.inf) < LEAST_PANEL * figure.dpi
        except UserWarning:
            small = True
    if small:
        raise TooSmallError(*figure.get_size_inches())


def least_height(draw: Callable[[float], object], low: float, high: float) -> float | None:
    """The least height, to 0.1 inches, with which a chart can be drawn; `None` if even the highest is too small."""

    def fits(tenths: int) -> bool:
        try:
            draw(tenths / 10)
        except TooSmallError:
            return False
        return True

    below, above = math.floor(10 * low), math.ceil(10 * high)
    if not fits(above):
        return None
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fits(middle) else (middle, above)
    return above / 10


def _thin(figure: Figure, axes: Axes) -> None:
    """Fewer ticks of a linear horizontal axis, as long as their labels overlap; of given values, fewer labels."""
    ticker = needed("matplotlib.ticker", "drawing")
    axis = axes.xaxis
    # Each name is needed.
    names = isinstance(axis.get_major_formatter(), ticker.FixedFormatter)
    if isinstance(axis.get_major_locator(), ticker.FixedLocator) and not names:
        _thin_given(figure, axis)
    if not isinstance(axis.get_major_locator(), ticker.MaxNLocator):
        return
    for count in range(len(axis.get_majorticklocs()), 1, -1):
        if all(right - left >= 0 for (_, left), (right, _) in pairwise(_spans(figure, _labels(axis)))):
            return
        axes.locator_params(axis="x", nbins=count - 1)
        figure.draw_without_rendering()


def _thin_given(figure: Figure, axis: Axis) -> None:
    """Hide level labels of given ticks that would overlap: the first and the last stay, and those between that fit."""
    labels = _labels(axis)
    if not labels or labels[0].get_rotation():
        return
    spans = _spans(figure, labels)
    free, end = spans[0][1], spans[-1][0]
    for label, (left, right) in zip(labels[1:-1], spans[1:-1], strict=True):
        if left >= free and right <= end:
            free = right
        else:
            label.set_visible(False)


def _thin_upright(figure: Figure, axis: Axis) -> None:
    """Hide labels of a logarithmic vertical axis that would overlap; those of main ticks stay first."""
    minor = [tick.label1 for tick in axis.get_minor_ticks()]
    kept: list[tuple[float, float]] = []
    for label in [*_labels(axis), *(each for each in minor if each.get_visible() and each.get_text())]:
        extent = label.get_window_extent(_renderer(figure))
        above = extent.y1 + GAP / 4 * float(label.get_fontsize()) / 72 * figure.dpi
        if any(extent.y0 < high and low < above for low, high in kept):
            label.set_visible(False)
        else:
            kept.append((extent.y0, above))


def _labels(axis: Axis) -> list[Any]:
    """Visible labels of ticks with a text."""
    labels = [tick.label1 for tick in axis.get_major_ticks()]
    return [label for label in labels if label.get_visible() and label.get_text()]


def _spans(figure: Figure, labels: list[Any]) -> list[tuple[float, float]]:
    """Left and right end of labels in pixels, with the least distance to the next on the right."""
    extents = [label.get_window_extent(_renderer(figure)) for label in labels]
    gaps = [GAP * float(label.get_fontsize()) / 72 * figure.dpi for label in labels]
    return [(extent.x0, extent.x1 + gap) for extent, gap in zip(extents, gaps, strict=True)]


def _break(figure: Figure | SubFigure, text: Any, most: float) -> None:
    """Break a text into lines of at most so many pixels; a longer word has a line of its own."""
    lines: list[str] = []
    for word in BREAK.split(" ".join(text.get_text().split())):
        text.set_text(" ".join([*lines[-1:], word]))
        lines[-1:] = [text.get_text()] if lines and _width(figure, text) <= most else [*lines[-1:], word]
    text.set_text("\n".join(lines))


def _shorten(figure: Figure | SubFigure, text: Any, most: float, names: Sequence[str] = ()) -> None:
    """Cut letters out of a text's middle until it is at most so many pixels wide."""
    whole = text.get_text()
    for letters in range(len(whole) - 1, 0, -1):
        if _width(figure, text) <= most:
            return
        text.set_text(cut(whole, names, letters))


def _shorten_lines(figure: Figure | SubFigure, text: Any, most: float, words: Sequence[str]) -> None:
    """Cut letters out of lines that are longer; such a line has a single word."""
    lines = []
    for line in text.get_text().split("\n"):
        text.set_text(line)
        _shorten(figure, text, most, words)
        lines.append(text.get_text())
    text.set_text("\n".join(lines))


def cut(text: str, names: Sequence[str], letters: int) -> str:
    """A text without its middle, of so many letters.

    It has the first letter that differs from the nearest of other names, so that names with a common beginning stay
    different.
    """
    common = (
        takewhile(lambda pair: pair[0] == pair[1], zip(text, name, strict=False)) for name in names if name != text
    )
    differs = max((len(list(pairs)) for pairs in common), default=0)
    left, right = letters - letters // 2, letters // 2
    if differs < left or differs >= len(text) - right:
        return f"{text[:left].rstrip()}…{text[len(text) - right :].lstrip()}"
    head = (letters + 3) // 4
    end = differs + letters - 2 * head
    return f"{text[:head].rstrip()}…{text[differs - head : end].strip()}{'…' if end < len(text) else ''}"


def _width(figure: Figure | SubFigure, text: Any) -> float:
    extent: float = text.get_window_extent(_renderer(figure)).width
    return extent


def _renderer(figure: Figure | SubFigure) -> Any:
    """The renderer of the whole figure, which measures text."""
    return needed("matplotlib.backends.backend_agg", "drawing").FigureCanvasAgg(figure.figure).get_renderer()
