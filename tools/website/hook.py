"""Makes a site of the repository's Markdown: a hook of mkdocs, called by `make site`.

The pages are written for GitHub, with relative links to any file of the repository. The site keeps the repository's
layout, so these links stay as they are. Linked text files become pages with their text. Navigation follows the
chapters of docs/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
ASSETS = [Path(__file__).with_name(name) for name in ("site.css", "icon.svg", "iframe-worker.js")]
START = "docs/README.md"
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PICTURES = {".svg", ".png", ".gif", ".jpg"}
LANGUAGES = {".toml": "toml", ".cff": "yaml", ".py": "python", ".rs": "rust"}
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^ *(```+)(\w*) *$")
FILE = re.compile(r"<!-- file: (\S+) -->")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ITEM = re.compile(r" *([-*+]|\d+[.)]) ")
OUTSIDE = re.compile(r"[a-z]+:")
Nav = list[Any]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Sets the navigation."""
    config.nav = _nav()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replaces the files of docs/ by those of the repository that the pages lead to, from docs/ and the top on."""
    kept = [file for file in files if not (file.src_uri.endswith(".md") or Path(file.src_uri).suffix in PICTURES)]
    found = Files(kept)
    todo = [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))
    done: set[Path] = set()
    while todo:
        path = todo.pop()
        if path in done:
            continue
        done.add(path)
        uri = path.relative_to(ROOT).as_posix()
        if path.is_dir():
            found.append(File.generated(config, f"{uri}/README.md", content=_contents(path)))
        elif path.suffix in PICTURES:
            found.append(File.generated(config, uri, abs_src_path=str(path)))
        elif path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            linked = [(path.parent / target).resolve() for target in _targets(text)]
            todo += [each for each in linked if each.exists() and ROOT in each.parents]
            found.append(File.generated(config, uri, content=page(text)))
        else:
            found.append(File.generated(config, f"{uri}.md", content=_listing(path)))
    for asset in ASSETS:
        found.append(File.generated(config, f"assets/{asset.name}", abs_src_path=str(asset)))
    return found


def page(text: str) -> str:
    """A page as GitHub shows it, for the Markdown of mkdocs.

    Comments go; a comment that names a block's file becomes the block's title. A list may follow a paragraph without a
    blank line. A `|` within code in a table is escaped on GitHub only.
    """
    lines: list[str] = []
    fence = title = ""
    for line in _without_comments(text):
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1] == fence and not mark[2] else fence
        elif mark:
            fence = mark[1]
            line += f' title="{title}"' if title and mark[2] else ""
            title = ""
        elif named := FILE.fullmatch(line.strip()):
            title = named[1]
            continue
        else:
            title = title if not line.strip() else ""
            if ITEM.match(line) and lines and lines[-1].strip() and not _in_list(lines):
                lines.append("")
            if line.startswith("|"):
                line = re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), line)
            line = LINK.sub(_linked, line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _without_comments(text: str) -> Iterator[str]:
    """Lines of a page without comments outside blocks, except those that name a file."""
    inside = fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and not inside:
            fence = "" if fence == mark[1] else fence or mark[1]
        if fence or FILE.fullmatch(line.strip()):
            yield line
            continue
        inside += line
        if inside.count("<!--") > inside.count("-->"):
            continue
        rest = COMMENT.sub("", inside)
        if rest.strip() or not inside.strip():
            yield rest
        inside = ""


def _in_list(lines: list[str]) -> bool:
    """If true, the last paragraph belongs to a list."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if ITEM.match(line):
            return True
    return False


def _targets(text: str) -> Iterator[str]:
    """Files of the repository that a page links to."""
    for found in LINK.finditer(text):
        if not OUTSIDE.match(found[2]):
            yield found[2]


def _linked(found: re.Match[str]) -> str:
    """A link; a linked text file or folder is a page of the site."""
    target = found[2]
    if target.endswith("/"):
        return f"{found[1]}{target}README.md{found[3]}"
    if OUTSIDE.match(target) or Path(target).suffix in {".md", *PICTURES}:
        return found[0]
    return f"{found[1]}{target}.md{found[3]}"


def _listing(path: Path) -> str:
    """A page with the text of a file."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall(r"`+", text)), 0)
    return f"# {name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def _contents(folder: Path) -> str:
    """A page with the pages of a folder."""
    lines = [f"- [{path.stem}]({path.name})" for path in sorted(folder.glob("*.md"))]
    return "\n".join([f"# {folder.name}", "", *lines]) + "\n"


def _nav() -> Nav:
    """Tabs: the doors of the start page, and what is looked up."""
    text = (ROOT / START).read_text(encoding="utf-8")
    doors: Nav = []
    for section in text.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        pages = [_path(target) for target in re.findall(r"^\| .*\]\(([^)#]+)\) \|$", body, re.MULTILINE)]
        if pages:
            doors.append({heading: pages})
    return [
        {"Home": ["README.md", START, "docs/howto/install.md", "docs/tutorial.md", "docs/architecture.md"]},
        *doors,
        {"Reference": ["docs/reference/README.md", "docs/glossary.md", "docs/exit-codes.md", *_below("reference")]},
        {"Design": ["docs/design/README.md", *_listed("design")]},
        {"Project": ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", *_rest(doors)]},
    ]


def _path(target: str) -> str:
    return (Path("docs") / target).as_posix()


def _listed(folder: str) -> list[str]:
    """Pages of a folder in the order of its first page, then any others."""
    first = ROOT / "docs" / folder / "README.md"
    named = [
        target for target in _targets(first.read_text(encoding="utf-8")) if (first.parent / target).suffix == ".md"
    ]
    found = sorted(path.name for path in first.parent.glob("*.md") if path != first)
    names = dict.fromkeys([*(name for name in named if name in found), *found])
    return [f"docs/{folder}/{name}" for name in names]


def _below(folder: str) -> Nav:
    """Pages of a folder; those of a folder within it follow their page as a group."""
    nav: Nav = []
    for page_ in _listed(folder):
        inner = sorted((ROOT / page_).with_suffix("").glob("*.md"))
        group = [page_, *(path.relative_to(ROOT).as_posix() for path in inner)]
        nav.append({Path(page_).stem.capitalize(): group} if inner else page_)
    return nav


def _rest(doors: Nav) -> list[str]:
    """Pages for maintainers, benchmarks, and how-to pages without a door."""
    behind = {page_ for door in doors for pages in door.values() for page_ in pages} | {"docs/howto/install.md"}
    known = {START, "docs/tutorial.md", "docs/architecture.md", "docs/glossary.md", "docs/exit-codes.md"}
    found = [
        path.relative_to(ROOT).as_posix() for folder in ("docs", "docs/howto") for path in (ROOT / folder).glob("*.md")
    ]
    return [*sorted(page_ for page_ in found if page_ not in behind | known), "benches/RESULTS.md"]
