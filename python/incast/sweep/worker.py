"""A process that does runs for a sweep: tasks come in on standard input, one a line; what happens goes out likewise.

It ends when its standard input does, in the middle of a run if need be: a sweep that was killed leaves no process
behind.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from incast.sweep.execute import Task, attempt, execute, messages, send


def serve(do: Callable[[dict[str, Any], TextIO], object]) -> None:
    """Do what comes in until nobody is there any more to give it; `do` has a request, and where messages go."""
    # Ctrl-C in a terminal reaches every process of the group; what is to be done about it is the sweep's to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = messages()
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    try:
        while True:
            do(json.loads(requests.get()), out)
    except BrokenPipeError:
        os._exit(1)


def _do(request: dict[str, Any], out: TextIO) -> None:
    """Do one task and say how it ended."""
    task, folder = Task(**request["task"]), Path(request["folder"])
    send(out, {"event": "begin"})
    error = attempt(lambda: execute(task, folder, lambda pulse: send(out, {"event": "pulse", **vars(pulse)})))
    send(out, {"event": "done"} if error is None else {"event": "failed", "error": error})


def _listen(requests: queue.SimpleQueue[str]) -> None:
    """Take in tasks; at the end of the input end the process, whatever it does."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    serve(_do)
