"""Findings: sentences with numbers about a run, made from its tables by rules."""

from incast.findings.find import MOST, findings, findings_of
from incast.findings.finding import Finding

__all__ = ["MOST", "Finding", "findings", "findings_of"]
