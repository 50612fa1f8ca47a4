"""What the pages say can be done, can be done; tools/pages.py says how they are followed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import agreement
import agreement_tables
import pages


@pytest.mark.parametrize("page", pages.RUN)
def test_page(page: str, tmp_path: Path) -> None:
    for _ in pages.follow(page, tmp_path):
        pass


@pytest.mark.parametrize("page", pages.PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http:", "https:")):
            file, _, anchor = target.partition("#")
            linked = (ROOT / page).parent / file if file else ROOT / page
            assert linked.exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(linked), f"{page}: {target}"


def test_the_table_of_agreement_is_its_data() -> None:
    table = agreement_tables.overview_table(agreement.read(agreement.DATA / "overview.csv"))
    assert f"\n{table}\n" in agreement.PAGE.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """What can be linked to within a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
