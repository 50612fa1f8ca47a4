"""Counts the words of a file: wordcount.py FILE."""

import sys
from collections import Counter
from pathlib import Path


def main() -> None:
    """Count, and print the most frequent."""
    counts: Counter[str] = Counter()
    with Path(sys.argv[1]).open(encoding="ascii") as lines:
        for line in lines:
            counts.update(line.split())
    for word, count in counts.most_common(3):
        print(word, count)


if __name__ == "__main__":
    main()
