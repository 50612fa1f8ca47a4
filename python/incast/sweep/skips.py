"""Entries of `skip`: combinations of values that are left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from incast._document import Document, join
from incast.sweep.file import Value
from incast.sweep.text import shown

if TYPE_CHECKING:
    from incast.analysis.file import AnalysisFile
    from incast.sweep.file import SweepFile

SCHEME = "scheme"
"""The column of schemes, which every table of a sweep has."""


class Skips:
    """Entries of `skip` of a file and of a scale: each value is one of its axis, at some scale."""

    def __init__(
        self,
        document: Document,
        file: SweepFile | AnalysisFile,
        scale: str | None,
        axes: Mapping[str, Sequence[Value]],
        columns: Collection[str],
    ) -> None:
        """Take the entries.

        Args:
            document: The file.
            file: Its contents.
            scale: The scale, if any.
            axes: Values of the axes, in order of the file.
            columns: Columns that an entry can have.

        Raises:
            ScenarioError: An entry has an unknown column or value.

        """
        self._document = document
        entries = [(f"skip[{index}]", entry) for index, entry in enumerate(file.skip)]
        if scale is not None:
            at = f"scale.{scale}.skip"
            entries += [(f"{at}[{index}]", entry) for index, entry in enumerate(file.scale[scale].skip)]
        known: dict[str, list[Value]] = {}
        for axis, (name, values) in zip(file.vary, axes.items(), strict=True):
            of_scales = chain.from_iterable(each.values.get(name, ()) for each in file.scale.values())
            known[name] = [*values, *(axis.values or [point.name for point in axis.points or ()]), *of_scales]
        for where, entry in entries:
            for name, values in entry.items():
                if name not in columns:
                    raise document.unknown(where, "column", name, columns)
                if name in known:
                    self._check(where, name, _listed(values), known[name])
        # A column with numbers and texts has texts only.
        self._entries = [
            {name: [*_listed(values), *map(shown, _listed(values))] for name, values in entry.items()}
            for _, entry in entries
        ]
        self._schemes = [(where, name) for where, entry in entries for name in _listed(entry.get(SCHEME, []))]

    def _check(self, where: str, name: str, values: Sequence[Any], known: Sequence[Value]) -> None:
        for value in values:
            if value not in known:
                message = f"the axis `{name}` has no value `{shown(value)}`: the entry skips nothing"
                names = dict.fromkeys(map(shown, known))
                raise self._document.wrong(join(where, name), message, wrong=shown(value), names=names)

    def check_schemes(self, there: Collection[str]) -> None:
        """Raise `ScenarioError` for a scheme that the scenario does not have."""
        for where, scheme in self._schemes:
            if scheme not in there:
                raise self._document.unknown(join(where, SCHEME), SCHEME, shown(scheme), there)

    def match(self, columns: Mapping[str, Value]) -> bool:
        """True if an entry has these values."""
        return any(all(columns[name] in values for name, values in entry.items()) for entry in self._entries)


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]
