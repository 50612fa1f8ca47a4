"""Studies: published evaluations run again, and their claims held against what was measured."""

from incast.study.definition import Study, study
from incast.study.results import Claims, StudyResults, open_study

__all__ = ["Claims", "Study", "StudyResults", "open_study", "study"]
