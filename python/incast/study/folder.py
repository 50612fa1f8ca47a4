"""A study's folder and its files, and the folders included in incast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path

from incast import _input
from incast._document import Document
from incast._nearest import nearest
from incast.errors import Diagnostic, ScenarioError
from incast.study import explaining
from incast.study.description import Check, Claim, ClaimsFile, StudyFile
from incast.study.explaining import Explanation

STUDY = "study.toml"
CLAIMS = "claims.toml"
EXPLANATIONS = "explanations.md"


@dataclass(frozen=True)
class Description:
    """Contents of a study's files, before the checks of `checking`."""

    name: str
    """The name of its folder."""
    path: Path
    """The folder."""
    study: StudyFile
    """study.toml."""
    claims: ClaimsFile
    """claims.toml."""
    explanations: dict[str, Explanation]
    """explanations.md: what it says, by the id of the claim."""
    study_document: Document
    """Points into study.toml."""
    claims_document: Document
    """Points into claims.toml."""

    def part_file(self, name: str) -> Path:
        """The file of a sweep or an analysis."""
        return self.path / f"{name}.toml"


def shipped() -> dict[str, Path]:
    """The folders of the studies included in incast, by name."""
    with as_file(files("incast") / "studies") as folder:
        found = sorted(entry for entry in folder.iterdir() if (entry / STUDY).is_file())
    return {entry.name: entry for entry in found}


def find(name_or_path: str | PathLike[str]) -> Path:
    """The folder of a study included in incast, or a folder by its path."""
    known = shipped()
    text = fspath(name_or_path)
    if text in known:
        return known[text]
    path = Path(text)
    if path.is_dir():
        return path
    names = ", ".join([*known, "the path of a study's folder"])
    near = nearest(text, known)
    message = f"no study or folder `{text}`"
    hint = f"\n = did you mean `{near}`?" if near else ""
    diagnostic = Diagnostic(message, file=text, allowed=names, nearest=near)
    raise ScenarioError(f"error: {message}\n = allowed: {names}{hint}", (diagnostic,))


def name(path: Path) -> str:
    """The name of the study in a folder: that of the folder."""
    return path.resolve().name


def head(path: Path) -> tuple[StudyFile, Document]:
    """The study.toml of a folder."""
    document = Document(needed(path, STUDY))
    return document.typed(StudyFile), document


def read(path: Path) -> Description:
    """The description of a study, from the files of its folder."""
    study, study_document = head(path)
    claims_document = Document(needed(path, CLAIMS))
    claims = claims_document.typed(ClaimsFile)
    claims = replace(claims, claim=[_whole(claim) for claim in claims.claim])
    file = path / EXPLANATIONS
    ids, scales = [claim.id for claim in claims.claim], list(study.scale.given())
    explanations = explaining.read(file, ids, scales) if _input.exists(file) else {}
    return Description(name(path), path, study, claims, explanations, study_document, claims_document)


def _whole(claim: Claim) -> Claim:
    """A claim with its common selections in each check."""

    def merged(check: Check) -> Check:
        return replace(
            check,
            at={**claim.at, **check.at},
            of={**claim.of, **check.of},
            against={**claim.against, **check.against},
        )

    return replace(claim, check=[merged(check) for check in claim.check])


def needed(path: Path, name: str) -> Path:
    """A file that a study's folder must have."""
    file = path / name
    if not _input.exists(file):
        message = f"{path} is not a study: it has no {name}"
        holds = f"a study's folder has {STUDY}, {CLAIMS}, and NAME.toml for each sweep or analysis NAME"
        raise ScenarioError(f"error: {message}\n = {holds}", (Diagnostic(message, file=str(file)),))
    return file
