"""Studies: rerun published evaluations and check their claims against the measurements."""

from incast.study.definition import Study, load_study
from incast.study.mapped import StudyMap, open_map
from incast.study.results import Claims, StudyResults, open_study

__all__ = ["Claims", "Study", "StudyMap", "StudyResults", "load_study", "open_map", "open_study"]
