"""Steps without a known end."""

from __future__ import annotations

import io
import sys

import pytest

from conftest import wait_until
from incast.cli import phases
from incast.cli.phases import Phases


class Terminal(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal on which steps appear at once.

    Tests call it: Pytest replaces stderr after the fixtures have run.
    """
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(phases, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_steps_are_shown_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Phases("first step") as shown:
        wait_until(lambda: "first step" in terminal.getvalue())
        shown.update("second step")
        wait_until(lambda: "second step" in terminal.getvalue())
    end = terminal.getvalue()
    assert "0:00:0" in end
    assert "\x1b[?25h" in end, "the cursor is shown again"


def test_a_short_step_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(phases, "PATIENCE", 100.0)
    with Phases("short step"):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_shown_if_quiet_or_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Phases("quiet step", quiet=True) as shown:
        assert not shown._shown
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with Phases("step in a file") as shown:
        assert not shown._shown
    assert terminal.getvalue() == ""
