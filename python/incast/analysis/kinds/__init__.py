"""The kinds of analyses, a file each."""

from incast.analysis.kind import Kind
from incast.analysis.kinds.changes import CHANGES
from incast.analysis.kinds.cost import COST
from incast.analysis.kinds.dependencies import DEPENDENCIES
from incast.analysis.kinds.jellyfish import JELLYFISH
from incast.analysis.kinds.memory import MEMORY
from incast.analysis.kinds.tags import TAGS

KINDS: dict[str, Kind] = {kind.name: kind for kind in (JELLYFISH, DEPENDENCIES, TAGS, CHANGES, COST, MEMORY)}
"""All of them, by name."""
