"""Start and end of the command: standard streams, and the exit code of every exception."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from incast.cli import codes
from incast.cli.signals import NOTHING_WRITTEN, exiting, handle

STDOUT, STDERR = "standard output", "standard error"
AROUND = 30
"""Characters shown on each side of a character that cannot be encoded (our choice)."""


def run(tokens: Iterable[str] | None = None) -> NoReturn:
    """Run the command and exit; `incast.cli.main` handles signals before."""
    _open_streams()
    try:
        from incast.cli import commands

        handle(_raise)
        code = commands.run(tokens)
        sys.stdout.flush()
    except BaseException as error:
        handle(exiting("interrupted"))
        code = code_of(error)
    # Python flushes again at its end, and would replace the code if that failed.
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except OSError:
            _discard(number)
    # If Ctrl-C was noticed in a call of `exec`, as `dataclasses` makes them, Python would end by SIGINT instead of by
    # this code. Another call makes Python forget it.
    exec("")
    sys.exit(code)


class EndedError(KeyboardInterrupt):
    """A signal other than Ctrl-C ended the process; its number is the argument."""


_received: list[int] = []
"""Signals that were handled."""
OF_DUCKDB = "Query interrupted"
"""Error of DuckDB in place of an exception of a handler of signals."""


def _raise(number: int, _: FrameType | None) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else EndedError(number)


@contextmanager
def keeping(make: Callable[..., codes.UnfinishedError]) -> Iterator[None]:
    """If a signal ends the block, raise `make(signal)`, an error that says what the command has written."""
    try:
        yield
    except codes.UnfinishedError:
        raise
    except KeyboardInterrupt as interrupt:
        raise make(*interrupt.args) from None
    except RuntimeError as error:
        if not _is_signal(error):
            raise
        raise make(_received[-1]) from None


def _is_signal(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and str(error) == OF_DUCKDB and bool(_received)


def _open_streams() -> None:
    """Open closed standard streams, and let both outputs take any text.

    Otherwise a file of the results would get the number of a closed stream, and messages of libraries.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    # Also under their second names, as the first streams are detached.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = sys.__stdout__ = _Named.of(sys.stdout, STDOUT)  # type: ignore[misc]
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = sys.__stderr__ = _Named.of(sys.stderr, STDERR)  # type: ignore[misc]


class _Named(io.TextIOWrapper):
    """A standard stream that takes any text, and names itself in its errors."""

    error_name = ""

    @classmethod
    def of(cls, stream: io.TextIOWrapper, name: str) -> _Named:
        """Replace a stream."""
        # The C locale: Python itself uses UTF-8 in it, unless that is switched off.
        encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
        line_buffering, write_through = stream.line_buffering, stream.write_through
        named = cls(
            stream.detach(), encoding, "backslashreplace", line_buffering=line_buffering, write_through=write_through
        )
        named.error_name = name
        return named

    def write(self, text: str, /) -> int:
        with self._naming():
            return super().write(text)

    def flush(self) -> None:
        with self._naming():
            super().flush()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self.error_name
            raise


def _discard(number: int) -> None:
    """Redirect a stream that cannot be written to the null device."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def code_of(error: BaseException) -> int:
    """Print what ended the command; returns its exit code."""
    outcome = _outcome(error)
    if outcome is None:
        outcome = codes.BUG, _bug(error)
    code, text = outcome
    with suppress(OSError):
        if text:
            codes.complain(text)
    return code


def _outcome(error: BaseException) -> tuple[int, str] | None:
    """Exit code and message of an exception; `None` for a bug."""
    # Not imported here, as the import may be what failed.
    errors: Any = sys.modules.get("incast.errors")
    if errors is not None and isinstance(error, errors.IncastError):
        return _of_incast(error, errors)
    if isinstance(error, KeyboardInterrupt):
        text = str(error) if isinstance(error, codes.UnfinishedError) else NOTHING_WRITTEN
        return codes.SIGNALLED + (error.args[0] if error.args else signal.SIGINT), text
    if _is_signal(error):
        return codes.SIGNALLED + _received[-1], NOTHING_WRITTEN
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else codes.OK, ""
    if isinstance(error, ImportError):
        return _of_import(error)
    if isinstance(error, UnicodeEncodeError):
        return _of_encoding(error)
    if isinstance(error, MemoryError) or _of_duckdb(error, "OutOfMemoryException"):
        return codes.ENVIRONMENT, f"out of memory{f': {error}' if str(error) else ''}"
    if isinstance(error, BrokenPipeError) and error.filename in (STDOUT, STDERR):
        return codes.OK, ""
    if isinstance(error, OSError):
        return codes.ENVIRONMENT, _of_system(error)
    if _of_duckdb(error, "IOException"):
        from incast._database import reason

        return codes.ENVIRONMENT, reason(error)
    return None


def _of_incast(error: Any, errors: Any) -> tuple[int, str]:
    """Exit code and message of an exception of `incast.errors`."""
    if isinstance(error, errors.EnvironmentFailure):
        return codes.ENVIRONMENT, str(error)
    if isinstance(error, errors.InternalError):
        return codes.BUG, str(error)
    if isinstance(error, errors.ResultsExistError):
        return codes.BAD_INPUT, exists(str(error), error.option)
    return codes.BAD_INPUT, str(error)


def exists(text: str, option: str = "--output") -> str:
    """An error about an existing file or folder, with the remedy."""
    if "never overwritten" in text:
        return text
    return f"{text.partition(';')[0]}; use --overwrite to replace it, or choose another place with {option}"


def _of_import(error: ImportError) -> tuple[int, str] | None:
    """A library is missing or broken; `None` if a module of incast is at fault."""
    name = error.name or ""
    if name == "incast._core":
        return codes.ENVIRONMENT, f"incast is not built for this Python: pip install --force-reinstall incast ({error})"
    if name.partition(".")[0] == "incast":
        return None
    library = name.partition(".")[0] or "a library"
    remedy = f": pip install {library}" if isinstance(error, ModuleNotFoundError) else f" ({error})"
    return codes.ENVIRONMENT, f"incast needs {library}{remedy}"


def _of_encoding(error: UnicodeEncodeError) -> tuple[int, str]:
    """A text that is not UTF-8, or that the locale cannot represent."""
    text = ascii(error.object[max(0, error.start - AROUND) : error.end + AROUND])
    locale = sys.getfilesystemencoding()
    help_ = "" if locale == "utf-8" else f"\n = help: this locale uses {locale}; set PYTHONUTF8=1 or LC_ALL=C.UTF-8"
    if all("\ud800" <= each <= "\udfff" for each in error.object[error.start : error.end]):
        return codes.BAD_INPUT, f"error: {text} is not valid UTF-8\n = allowed: text and names in UTF-8{help_}"
    return codes.ENVIRONMENT, f"error: {text} cannot be written in {error.encoding}{help_}"


def _of_system(error: OSError) -> str:
    """The message about a failure of the operating system."""
    why = error.strerror or str(error)
    return why if error.filename is None else f"{os.fsdecode(error.filename)}: {why}"


def _of_duckdb(error: BaseException, name: str) -> bool:
    """True for an exception of DuckDB of this class."""
    library: Any = sys.modules.get("duckdb")
    return library is not None and isinstance(error, getattr(library, name))


def _bug(error: BaseException) -> str:
    """The message about a bug. The traceback is written to a file, for the report."""
    import platform
    import tempfile
    import traceback

    trace = "".join(traceback.format_exception(error))
    core: Any = sys.modules.get("incast._core")
    versions = f"incast {getattr(core, '__version__', '?')}, Python {platform.python_version()}, {platform.platform()}"
    what = traceback.format_exception_only(error)[-1].strip()
    try:
        descriptor, file = tempfile.mkstemp(prefix="incast-bug-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(f"{versions}\ncommand: {sys.argv!r}\n\n{trace}")
    except OSError:
        return f"internal error: {what}\n{trace} = please report it, with these lines, the command and {versions}"
    return f"internal error: {what}\n = please report it, with the file {file} and the scenario"
