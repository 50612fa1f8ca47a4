"""A process that does runs for a sweep: tasks come in on standard input, one a line; what happens goes out likewise.

It ends when its standard input does, and gives up the run in hand when nobody reads its output any more: a sweep that
was killed leaves no process behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

from incast.errors import IncastError
from incast.sweep.execute import Task, execute


def main() -> None:
    """Do tasks until there are no more."""
    # Ctrl-C in a terminal reaches every process of the group; what is to be done about it is the sweep's to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What libraries print must not come between the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            work(Task(**request["task"]), Path(request["folder"]), out)
        except BrokenPipeError:
            os._exit(1)


def work(task: Task, folder: Path, out: TextIO) -> None:
    """Do one task and say how it ended."""
    send(out, {"event": "begin"})
    try:
        execute(task, folder, lambda pulse: send(out, {"event": "pulse", **vars(pulse)}))
    except BrokenPipeError:
        raise
    except IncastError as error:
        send(out, {"event": "failed", "error": str(error)})
    except BaseException as error:  # a panic of the core is none of Exception
        send(out, {"event": "failed", "error": "".join(traceback.format_exception_only(error)).strip()})
    else:
        send(out, {"event": "done"})


def send(out: TextIO, message: dict[str, Any]) -> None:
    """One line."""
    print(json.dumps(message), file=out, flush=True)


if __name__ == "__main__":
    main()
