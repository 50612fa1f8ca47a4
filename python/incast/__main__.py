"""`python -m incast` is the command `incast`."""

from incast.cli import main

main()
