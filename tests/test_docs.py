"""The pages' commands and code run and print what the pages say; tools/pages.py describes how."""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import agreement
import agreement_tables
import pages

MARKDOWN = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benches/**/*.md", "python/**/*.md", "tests/**/*.md", "crates/**/*.md")
    for path in ROOT.glob(pattern)
)
"""Every page of the repository."""


@pytest.mark.parametrize("page", pages.RUN)
def test_page(page: str, tmp_path: Path) -> None:
    for _ in pages.follow(page, tmp_path):
        pass


@pytest.mark.parametrize("page", MARKDOWN)
def test_links_lead_somewhere(page: str) -> None:
    for target in links(ROOT / page):
        file, _, anchor = target.partition("#")
        linked = (ROOT / page).parent / file if file else ROOT / page
        assert linked.exists(), f"{page}: {target}"
        assert ROOT in linked.resolve().parents, f"{page}: {target} lies outside the repository"
        if anchor:
            assert linked.suffix == ".md", f"{page}: {target}: only Markdown has anchors"
            assert anchor in anchors(linked), f"{page}: {target}"


def test_the_table_of_agreement_is_its_data() -> None:
    table = agreement_tables.overview_table(agreement.read(agreement.DATA / "overview.csv"))
    assert f"\n{table}\n" in agreement.PAGE.read_text(encoding="utf-8")


def test_every_page_of_docs_can_be_reached() -> None:
    """Pages that are reached by links from the README."""
    todo, reached = [ROOT / "README.md"], set[Path]()
    while todo:
        page = todo.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            found = [(page.parent / target.partition("#")[0]).resolve() for target in links(page)]
            todo += [inner for path in found for inner in (path.glob("*.md") if path.is_dir() else [path])]
    assert sorted(path.relative_to(ROOT).as_posix() for path in set(ROOT.glob("docs/**/*.md")) - reached) == []


def links(page: Path) -> Iterator[str]:
    """Relative links and pictures of a page, except those in code."""
    text = re.sub(
        r"^ *(```+).*?^ *\1 *$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for target in re.findall(r"\]\(<?([^)>\s]+)|^\[[^\]]+\]: (\S+)|(?:href|src)=\"([^\"]+)\"", text, re.MULTILINE):
        if not re.match(r"[a-z]+:", found := "".join(target)):
            yield found


@functools.cache
def anchors(page: Path) -> set[str]:
    """Anchors of a page on GitHub; headings of equal text are numbered."""
    text = re.sub(r"^ *(```+).*?^ *\1 *$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    counts = Counter[str]()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower().strip()).replace(" ", "-")
        found.add(f"{slug}-{counts[slug]}" if counts[slug] else slug)
        counts[slug] += 1
    return found
