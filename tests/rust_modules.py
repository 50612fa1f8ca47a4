"""Imports between the modules of a Rust crate, read from its source without a build.

Modules are compared folder by folder: those directly under `src`, and the children of each folder among themselves. An
import counts between the two modules of the innermost folder that holds both ends, so a cycle of files that crosses
folders is a cycle of these folders. A folder and its `mod.rs` are one module; a parent and its children are no cycle.

A path leads to the file that defines its last name: an import through `pub use` of a parent counts between siblings.
Code under `#[cfg(test)]` does not count, nor do methods that other modules add to a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)
"""Comments and literals."""
NAMED = re.compile(r'"(?:crate|self|super)(?:::\w+)+"')
"""A literal that is a path: `#[serde(with = "…")]`."""
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
ITEM = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?(?:const|enum|fn|impl|mod|static|struct|trait|type|unsafe|use)\b")
MODULE = re.compile(r"\bmod (\w+)\s*([;{])")
USE = re.compile(r"\buse ([^;]+);")
DEFINED = re.compile(r"\b(?:const|enum|fn|static|struct|trait|type)\s+(?!(?:fn|unsafe)\b)(\w+)")
PATH = re.compile(r"(?<![\w:])\w+(?:\s*::\s*\w+)+")

Names = tuple[str, ...]
Graph = dict[str, dict[str, tuple[str, str]]]
"""For each module of a folder, the modules that it imports, each with one importing and one imported file."""


@dataclass
class Module:
    """A module, its children and the names in its scope."""

    file: Path
    parent: Module | None = None
    path: Names = ()
    """From the root of the crate; a module inside a file has the path of its file."""
    children: dict[str, Module] = field(default_factory=dict)
    uses: list[tuple[str, Names]] = field(default_factory=list)
    """Names imported, `*` for all, and their paths."""
    defined: set[str] = field(default_factory=set)
    paths: set[Names] = field(default_factory=set)
    """Every path in its code."""

    def root(self) -> Module:
        """The root of the crate."""
        return self.parent.root() if self.parent else self

    def resolve(self, path: Names, seen: frozenset[tuple[int, str]] = frozenset()) -> list[Module]:
        """The modules that a path leads through, the last of them with what it names; none outside the crate."""
        at, rest = self, path
        if path[0] in ("crate", "self", "super"):
            at = {"crate": self.root(), "self": self, "super": self.parent or self}[path[0]]
            rest = path[1:]
            while rest and rest[0] == "super":
                at, rest = at.parent or at, rest[1:]
        elif not at.lookup(path[0], seen):
            return []
        trail = [at]
        for name in rest:
            found = at.lookup(name, seen)
            trail += found
            if not found or found[-1] is at:
                break
            at = found[-1]
        return trail

    def lookup(self, name: str, seen: frozenset[tuple[int, str]]) -> list[Module]:
        """The modules that a name in this module leads through."""
        if name in self.children:
            return [self.children[name]]
        if name in self.defined or (id(self), name) in seen:
            return [self] if name in self.defined else []
        seen |= {(id(self), name)}
        for imported, path in self.uses:
            if imported == name and (found := self.resolve(path, seen)):
                return found
        for imported, path in self.uses:
            if imported == "*" and (found := self.resolve(path, seen)) and (last := found[-1].lookup(name, seen)):
                return found + last
        return []

    def all(self) -> Iterator[Module]:
        """The module and those below it."""
        yield self
        for child in self.children.values():
            yield from child.all()


def read(file: Path, parent: Module | None = None, path: Names = ()) -> Module:
    """The module of a file, with its children."""
    module = Module(file, parent, path)
    text = SKIPPED.sub(
        lambda found: found[0][1:-1] if NAMED.fullmatch(found[0]) else " ", file.read_text(encoding="utf-8")
    )
    fill(module, without_tests(text.replace("$crate", "crate")))
    return module


def without_tests(text: str) -> str:
    """The text without the items under `#[cfg(test)]`."""
    while found := TEST.search(text):
        text = text[: found.start()] + text[end_of_item(text, found.end()) :]
    return text


def end_of_item(text: str, start: int) -> int:
    """The place after an item, a field or a statement."""
    item = ITEM.match(text, start)
    ends = ";" if item else ";,"
    use = item is not None and item[0].endswith("use")
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth < 0:
            return at
        if depth == 0 and (text[at] in ends or (text[at] == "}" and not use)):
            return at + 1
    return len(text)


def fill(module: Module, text: str) -> None:
    """Read the children and names of a module from its text."""
    while found := MODULE.search(text):
        end = end_of_item(text, found.start())
        if found[2] == "{":
            child = module.children[found[1]] = Module(module.file, module, module.path)
            fill(child, text[found.end() : end - 1])
        else:
            folder = module.file.parent if module.file.stem in ("lib", "mod") else module.file.with_suffix("")
            file, inner = folder / f"{found[1]}.rs", folder / found[1] / "mod.rs"
            path = (*module.path, found[1])
            module.children[found[1]] = read(file if file.exists() else inner, module, path)
        text = text[: found.start()] + text[end:]
    for found in USE.finditer(text):
        module.uses += tree(found[1].strip(), ())
    module.defined = set(DEFINED.findall(text))
    module.paths = {tuple(re.split(r"\s*::\s*", found)) for found in PATH.findall(USE.sub("", text))}
    module.paths |= {path for _, path in module.uses}


def tree(text: str, prefix: Names) -> Iterator[tuple[str, Names]]:
    """The names of a `use` and their paths."""
    head, brace, inner = text.partition("{")
    path, _, alias = head.partition(" as ")
    names = (*prefix, *(name.strip() for name in path.split("::") if name.strip()))
    if brace:
        for part in split(inner.rstrip()[:-1]):
            yield from tree(part, names)
    elif names[-1] == "*":
        yield "*", names[:-1]
    else:
        names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
        yield alias.strip() or names[-1], names


def split(text: str) -> list[str]:
    """The parts of a list between commas that no brace encloses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def graphs(source: Path) -> dict[str, Graph]:
    """The imports between the children of each folder of a crate, by the folder's path below `source`."""
    found: dict[str, Graph] = {}
    for user in read(source / "lib.rs").all():
        for target in (target for path in sorted(user.paths) for target in reversed(user.resolve(path))):
            common = 0
            while user.path[common : common + 1] == target.path[common : common + 1] != ():
                common += 1
            if common < min(len(user.path), len(target.path)):
                graph = found.setdefault("/".join(user.path[:common]), {})
                files = str(user.file.relative_to(source)), str(target.file.relative_to(source))
                graph.setdefault(user.path[common], {}).setdefault(target.path[common], files)
    return found


def components(source: Path) -> list[tuple[str, dict[str, str]]]:
    """The sets of modules that import each other: their folder, and a shortest cycle through each of them."""
    found: list[tuple[str, dict[str, str]]] = []
    for folder, graph in sorted(graphs(source).items()):
        before = {start: breadth_first(graph, start) for start in sorted(graph)}
        cyclic = {module: spelled(way(graph, before[module], module)) for module in before if module in before[module]}
        while cyclic:
            first = min(cyclic)
            together = [module for module in cyclic if module in before[first] and first in before[module]]
            found.append((folder, {module: cyclic.pop(module) for module in together}))
    return found


def breadth_first(graph: Graph, start: str) -> dict[str, str]:
    """The modules that imports lead to, each with the module before it."""
    before: dict[str, str] = {}
    todo = [start]
    for module in todo:
        for target in graph.get(module, {}):
            if target not in before:
                before[target] = module
                todo.append(target)
    return before


def way(graph: Graph, before: dict[str, str], start: str) -> list[tuple[str, str]]:
    """The imports of a shortest cycle through a module: importing and imported files."""
    imports, at = [graph[before[start]][start]], before[start]
    while at != start:
        imports.append(graph[before[at]][at])
        at = before[at]
    return imports[::-1]


def spelled(imports: list[tuple[str, str]]) -> str:
    """`a.rs -> b.rs -> a.rs`; between two files of one folder, a comma."""
    text = imports[0][0]
    for (_, last), (user, target) in zip([("", imports[0][0]), *imports], imports, strict=False):
        text += ("" if user == last else f", {user}") + f" -> {target}"
    return text
