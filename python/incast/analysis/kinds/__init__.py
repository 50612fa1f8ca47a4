"""The kinds of analyses, a file each."""

import functools

from incast import _companions
from incast.analysis.kind import Kind
from incast.analysis.kinds.changes import CHANGES
from incast.analysis.kinds.dependencies import DEPENDENCIES
from incast.analysis.kinds.jellyfish import JELLYFISH
from incast.analysis.kinds.tags import TAGS


@functools.cache
def kinds() -> dict[str, Kind]:
    """All kinds, by name."""
    found = (JELLYFISH, DEPENDENCIES, TAGS, CHANGES, *map(_companions.imported, _companions.ANALYSES))
    return {kind.name: kind for kind in found}
