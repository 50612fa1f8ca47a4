"""Data of charts: the tables of one or several results folders, queried with SQL."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _database, _input, _tables
from incast._database import literal, quoted, utf8
from incast._quantity import picoseconds
from incast.errors import EnvironmentFailure, ResultsError
from incast.integrity import check, damaged
from incast.results import ALL, Results, check_label

if TYPE_CHECKING:
    import duckdb

SCENARIO = "scenario.toml"
"""File of a results folder: the scenario with all defaults."""
SPLIT = "queue pairs (`qps`); the table `messages` has the times of their messages"
"""Note on flows, if messages have several."""
SEPARATE = 4
"""Labels with a panel of their own in a chart; of more labels, the largest have one, and all others share one."""


class Source:
    """The results of all schemes of one scenario, in one folder or in one folder per scheme.

    `rows` queries their tables: `flows`, `ports` and the others are views of the Parquet files.
    """

    def __init__(self, results: Sequence[Results], title: str = "", palette: Sequence[str] = ()) -> None:
        """Take the results of one scenario; `palette` names schemes of other scenarios that also need a colour."""
        self.results = tuple(results)
        self.title = title or next((str(each.manifest["title"]) for each in results if each.manifest.get("title")), "")
        self.manifests: dict[str, dict[str, Any]] = {
            name: scheme for each in results for name, scheme in each.manifest["schemes"].items()
        }
        """The manifest of each scheme."""
        self.palette = [*palette, *(name for name in self.manifests if name not in palette)]
        """The schemes in the order of their colours."""
        self._connection: duckdb.DuckDBPyConnection | None = None

    @property
    def schemes(self) -> list[str]:
        """The names of the schemes."""
        return list(self.manifests)

    @property
    def seed(self) -> int:
        """The seed of the run, or of the first of several."""
        return int(self.results[0].manifest["seed"])

    def count(self, table: str) -> int:
        """Number of rows of a table, according to the manifests."""
        return sum(int(each.manifest["tables"].get(table, {}).get("rows", 0)) for each in self.results)

    def rows(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query over the tables."""
        import duckdb

        if self._connection is None:
            self._connection = self._connect()
        try:
            return self._connection.execute(query, values).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise EnvironmentFailure(f"{self.results[0].path}: {error}") from None
        except (duckdb.Error, UnicodeDecodeError) as error:  # the second where an error quotes a damaged file
            raise self._blamed(error) from None

    def by_scheme(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Rows that begin with a scheme, in the order of the schemes; rows of one scheme keep theirs."""
        order = {scheme: place for place, scheme in enumerate(self.schemes)}
        return sorted(rows, key=lambda row: order[row[0]])

    @cached_property
    def overall(self) -> dict[str, dict[str, Any]]:
        """Slowdown of all flows together, by scheme; schemes without a completed flow are missing."""
        return self.slowdowns(ALL)

    def slowdowns(self, label: str) -> dict[str, dict[str, Any]]:
        """Slowdown of the flows of a label, by scheme; schemes without a completed flow are missing."""
        return {row["scheme"]: row for each in self.results for row in each.slowdown(bins=1, label=label).dicts()}

    @cached_property
    def begins(self) -> dict[str, int]:
        """Time of the first start of a flow, or of the first pause if it is earlier, by scheme, in ps."""
        found = self.rows("select scheme, min(start_ps) from (select scheme, start_ps from flows union all "
                          "select scheme, start_ps from pauses) group by scheme")  # fmt: skip
        return {scheme: begin or 0 for scheme, begin in found}

    @property
    def span_ps(self) -> int:
        """Interval of shares of time: the longest run of a scheme, from its first flow or pause to its end, in ps.

        One interval for all schemes: with one for each, a scheme with a single slow flow would have smaller shares.
        """
        ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in self.manifests.items()}
        return max((end - self.begins.get(scheme, 0) for scheme, end in ends.items()), default=0)

    @property
    def cut_ps(self) -> dict[str, int]:
        """Runs that ended in a deadlock, by scheme, in ps: without that end, their pauses would last for ever.

        Shares of time are of these runs themselves. Of a longer run of another scheme, their pauses would be a small
        part.
        """
        return {
            scheme: int(manifest["end_ps"]) - self.begins.get(scheme, 0)
            for scheme, manifest in self.manifests.items()
            if manifest["stop"]["reason"] == "deadlock"
        }

    @cached_property
    def unfinished(self) -> dict[str, int]:
        """Number of flows that neither completed nor were cancelled, by scheme; backlogged flows do not count."""
        stops = {scheme: manifest["stop"] for scheme, manifest in self.manifests.items()}
        return {scheme: stop.get("unfinished", 0) + stop.get("not_started", 0) for scheme, stop in stops.items()}

    def of_unfinished(self, label: str | None) -> tuple[str, ...]:
        """A note on the unfinished flows of a label, or of all, if there are any."""
        rows = self.rows(
            "select scheme, count(*) from flows where not backlogged and status not in ('completed', 'cancelled') "
            "and ($all or label = $label) group by scheme",
            {"all": label in (None, ALL), "label": label},
        )
        found = self.by_scheme(rows)
        if not found:
            return ()
        if len(self.schemes) > 1:
            counts = ", ".join(f"{count:,} ({scheme})" for scheme, count in found)
            return (f"Unfinished flows are not counted: {counts}.",)
        count = found[0][1]
        return (f"{count:,} unfinished {'flow is' if count == 1 else 'flows are'} not counted.",)

    @property
    def of_queue_pairs(self) -> tuple[str, ...]:
        """A note on flows that carry parts of messages (`qps`), if there are any."""
        return (f"Flows are {SPLIT}.",) if self.count("messages") else ()

    @property
    def has_all_drops(self) -> bool:
        """True if the table of drops has all (`measure.max_drops`)."""
        return not self.first_drops

    @cached_property
    def first_drops(self) -> dict[str, tuple[int, int]]:
        """Recorded drops and all drops, by scheme, if the table has only the first (`measure.max_drops`)."""
        recorded = dict(self.rows("select scheme, count(*) from drops group by scheme")) if self.count("drops") else {}
        counts = {scheme: int(manifest["counts"]["drops"]) for scheme, manifest in self.manifests.items()}
        return {scheme: (mine, all_) for scheme, all_ in counts.items() if (mine := recorded.get(scheme, 0)) < all_}

    @property
    def has_slowdowns(self) -> bool:
        """True if a flow has a slowdown: it completed and is not backlogged."""
        return bool(self._largest)

    def why_no_slowdown(self, label: str | None) -> str:
        """Reason why no flow of a label, or of all, has a slowdown."""
        ((completed,),) = self.rows(
            "select count(finish_ps) from flows where $all or label = $label",
            {"all": label in (None, ALL), "label": label},
        )
        if completed:
            return "Backlogged flows have no slowdown."
        return f"No flow{'' if label in (None, ALL) else f' of label {label}'} completed."

    def close(self) -> None:
        """Close the files."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def sampled(self) -> bool:
        """True if the scenario asked for samples (`measure.sample_every`)."""
        with read_scenario(self.results[0]) as tree:
            return bool(picoseconds(str(tree["measure"]["sample_every"])))

    def sample_ps(self) -> int:
        """Picoseconds between samples (`measure.sample_every`)."""
        with read_scenario(self.results[0]) as tree:
            every = tree["measure"]["sample_every"]
        return max(1, picoseconds(str(every)) or 1)

    def sampled_ps(self) -> tuple[int, int | None]:
        """Time of the first sample, and end of sampling, in ps; `None` for the end of the run."""
        with read_scenario(self.results[0]) as tree:
            measure = tree["measure"]
            return picoseconds(str(measure.get("sample_from"))) or 0, picoseconds(str(measure.get("sample_until")))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the groups of flows, in order of their first flow."""
        return tuple(
            label for (label,) in self.rows("select label from flows group by label order by min(flow), label")
        )

    @cached_property
    def _largest(self) -> tuple[str, ...]:
        """The labels with completed flows, those with the most flows first."""
        return tuple(label for (label,) in self.rows(
            "select label from flows where slowdown_hpcc is not null group by label order by count(*) desc, min(flow)"
        ))  # fmt: skip

    def groups(self, label: str | None) -> list[tuple[str, list[str]]]:
        """The groups of flows that are drawn separately, with the labels of each: every label, or one, or all together.

        Of many labels the largest stand alone, and the last group has all others. A group without labels has all flows.

        Raises:
            ResultsError: No flow has the label.

        """
        if label is not None:
            check_label(self.results[0].path, label, self.labels)
            return [(label, [] if label == ALL else [label])]
        largest = self._largest
        alone = largest if len(largest) <= SEPARATE else largest[: SEPARATE - 1]
        groups = [(name, [name]) for name in self.labels if name in alone]
        if others := [name for name in self.labels if name in largest and name not in alone]:
            groups.append((f"{len(others)} other labels", others))
        return groups

    def _connect(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        names = dict.fromkeys(name for each in self.results for name in each.tables)
        tables = {name: self._files(name) for name in names}
        connection = _database.connect(file for files in tables.values() for file in files)
        try:
            for each in self.results:
                _tables.check(connection, each, each.tables)
            for table, files in tables.items():
                these = ", ".join(literal(utf8(file)) for file in files)
                connection.execute(f"create view {quoted(table)} as from read_parquet([{these}], union_by_name = true)")
        except (duckdb.Error, UnicodeDecodeError) as error:
            connection.close()
            raise self._blamed(error) from None
        except ResultsError:
            connection.close()
            raise
        return connection

    def _files(self, table: str) -> list[Path]:
        return [each.path / f"{table}.parquet" for each in self.results if table in each.tables]

    def _blamed(self, error: Exception) -> ResultsError:
        """The error, naming a damaged file where there is one."""
        for each in self.results:
            for damage in check(each.path).damage:
                return damaged(str(damage), each.path)
            if found := _tables.incomplete(each):
                return found
        return ResultsError(f"cannot read the tables: {error}")


def scenario_file(results: Results) -> bytes:
    """The content of `scenario.toml`.

    Raises:
        ResultsError: The file is missing.

    """
    file = results.path / SCENARIO
    try:
        return _input.read_bytes(file, ResultsError, _input.DOCUMENT)
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}; run the scenario again") from None


@contextmanager
def read_scenario(results: Results) -> Iterator[dict[str, Any]]:
    """The scenario of a run, with all defaults, as a tree of tables.

    Raises:
        ResultsError: The file is missing or damaged, or lacks a key that the block uses.

    """
    try:
        yield tomllib.loads(scenario_file(results).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ResultsError(f"{results.path / SCENARIO} is damaged: {why}; run the scenario again") from None


def of_labels(groups: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Notes on groups that have several labels."""
    return tuple(f"Drawn together as {name}: {', '.join(labels)}." for name, labels in groups if len(labels) > 1)
