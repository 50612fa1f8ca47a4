"""The process that is the testbed: it does what it reads from standard input, a line of JSON at a time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from incast.testbed.line import Line
from incast.testbed.namespaces import Refused, end_with_parent, enter


def main(parent: int) -> None:
    """Build the testbed, say so, and answer until standard input ends; `parent` is the process that asks."""
    try:
        # What the kernel is to do when the parent ends is forgotten when a user namespace is entered, so: after that.
        enter()
        end_with_parent(parent)
        line = Line()
    except Refused as refused:
        _say({"refused": str(refused)})
        return
    does: dict[str, Callable[..., Any]] = {"load": line.load, "ping": line.ping, "stream": line.stream}
    _say({"value": None})
    for asked in sys.stdin:
        name, arguments = json.loads(asked)
        try:
            _say({"value": does[name](**arguments)})
        except Refused as refused:
            _say({"refused": str(refused)})


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
