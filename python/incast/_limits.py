"""Limits of the command and the Python API."""

WORKERS = 65_536
"""Most threads and processes (our choice)."""
LARGEST = 2**63 - 1
"""Largest whole number of TOML, so of a scenario; the least is `-LARGEST - 1`."""
LONGEST_NAME = 200
"""Most characters of a name, as `LONGEST_NAME` of the core (our choice)."""
LONGEST_TITLE = 1_000
"""Most characters of a title (our choice: some lines of a page)."""
LONGEST_TEXT = 4_096
"""Most characters of another text, such as a varied value (our choice: the longest path of a file in Linux)."""
DEEPEST = 100
"""Most tables and lists within each other in a scenario (our choice, below the limit of the core's reader)."""
