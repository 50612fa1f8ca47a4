"""Suggests a valid name for a wrong one: the new name of a renamed one, or one with a similar spelling."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from incast import _core

P = ParamSpec("P")
R = TypeVar("R")


def renamed(name: str, names: Iterable[str]) -> str | None:
    """The new name, among `names`, of a name of an earlier version; `None` if there is none."""
    return _core.renamed(name, list(names))


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The closest valid name, ignoring case; `None` if none is close."""
    names = list(names)
    if now := renamed(name, names):
        return now
    known = {each.lower(): each for each in names}
    return next((known[near] for near in difflib.get_close_matches(name.lower(), known, 1)), None)


def hint(name: str, names: Iterable[str]) -> str:
    """The end of a message, with the closest valid name; empty if there is none."""
    names = list(names)
    if now := renamed(name, names):
        return f"; `{name}` is now `{now}`"
    near = nearest(name, names)
    return f"; did you mean `{near}`?" if near else ""


def keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: a keyword of an earlier version raises an error that names the new one."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        check_keywords(function.__name__, given, known)
        return function(*args, **given)

    return checked


def check_keywords(called: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise `TypeError` for a keyword of an earlier version; `called` is the function or class."""
    known = list(known)
    for name in given:
        if now := renamed(name, known):
            raise TypeError(f"{called}() has no keyword `{name}`: `{name}` is now `{now}`")
