"""Worker process of a sweep: reads tasks from standard input, one per line, and writes events to standard output.

It ends when its standard input ends, also during a run: a killed sweep leaves no process behind.
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
    """Call `do` with each request and the stream for messages, until the input ends."""
    # Ctrl-C in a terminal reaches every process of the group; the sweep handles it.
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
    """Run one task and report the outcome."""
    task, folder = Task(**request["task"]), Path(request["folder"])
    send(out, {"event": "begin"})
    error = attempt(lambda: execute(task, folder, lambda pulse: send(out, {"event": "pulse", **vars(pulse)})))
    send(out, {"event": "done"} if error is None else {"event": "failed", "error": error})


def _listen(requests: queue.SimpleQueue[str]) -> None:
    """Read tasks; end the process at the end of the input, also during a run."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    serve(_do)
