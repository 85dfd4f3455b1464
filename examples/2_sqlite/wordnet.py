"""WordNet's nouns, from `offset lex_filenum n count (word lex_id)… | gloss`, the count in hexadecimal."""

import re
from collections.abc import Iterator
from pathlib import Path

FILE = Path("/usr/share/wordnet/data.noun")


def nouns(count: int) -> Iterator[tuple[int, list[str], str]]:
    """The first `count` synsets as offset, words, gloss."""
    with FILE.open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith("  "):
                continue  # the licence
            if count == 0:
                return
            count -= 1
            head, _, gloss = line.partition(" | ")
            fields = head.split(" ")
            words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            yield int(fields[0]), [word.replace("_", " ") for word in words], gloss.strip()


def examples(gloss: str) -> tuple[str, list[str]]:
    """A gloss without the sentences in quotes behind it, and these."""
    definition, *_ = gloss.split('; "', 1)
    return definition, re.findall(r'"([^"]*)"', gloss[len(definition) :])
