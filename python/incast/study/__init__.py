"""Studies: rerun published evaluations and check their claims against the measurements."""

from incast.study.definition import Study, load_study
from incast.study.results import Claims, StudyResults, open_study

__all__ = ["Claims", "Study", "StudyResults", "load_study", "open_study"]
