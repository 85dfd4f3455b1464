"""main.py fill DB COUNT | look DB WORD | note DB WORD TEXT

The same program as main.cpp, over the same file. It works with either release of the schema.
"""

import sqlite3
import sys
from contextlib import closing

import mf
from dictionary import Entry, Part, Place, Uses
from table import Table
from wordnet import examples, nouns


class Dictionary:
    def __init__(self, database: sqlite3.Connection) -> None:
        self.entries: Table[Place, Entry] = Table(database, "entries", Entry)
        self.uses: Table[str, Uses] = Table(database, "uses", Uses)

    def fill(self, count: int) -> str:
        for offset, words, gloss in nouns(count):
            place = Place(Part.noun, offset)
            self.entries.put(place, new_entry(words, gloss))
            for position, word in enumerate(words):
                uses = self.uses.get(word) or Uses()
                uses.entries.append(place)
                uses.positions.append(position)
                self.uses.put(word, uses)
        return f"{len(self.entries)} entries, {len(self.uses)} words"

    def look(self, word: str) -> str:
        return "\n".join(text(place, entry) for place, entry in self._of(word)) or f"no entry has {word}"

    def note(self, word: str, note: str) -> str:
        found = self._of(word)
        for place, entry in found:
            entry.notes.append(note)
            self.entries.put(place, entry)
        return f"noted in {len(found)} of {len(self.entries)} entries"

    def _of(self, word: str) -> list[tuple[Place, Entry]]:
        uses = self.uses.get(word) or Uses()
        found = [(place, self.entries.get(place)) for place in uses.entries]
        return [(place, entry) for place, entry in found if entry is not None]


def new_entry(words: list[str], gloss: str) -> Entry:
    entry = Entry(words, gloss)
    if hasattr(entry, "examples"):  # since the second release
        entry.gloss, entry.examples = examples(gloss)
    return entry


def text(place: Place, entry: Entry) -> str:
    lines = [f"{place.part.name} {place.offset}: {', '.join(entry.words)}", f"  {entry.gloss}"]
    if hasattr(entry, "examples"):
        lines += [f"  in {entry.language}: {each}" for each in entry.examples]
    return "\n".join([*lines, *(f"  note: {each}" for each in entry.notes)])


def main(command: str, path: str, *words: str) -> str:
    with closing(sqlite3.connect(path)) as database, database:  # one transaction
        dictionary = Dictionary(database)
        if command == "fill":
            return dictionary.fill(int(words[0]))
        return dictionary.look(*words) if command == "look" else dictionary.note(*words)


if len(sys.argv) < 4 or sys.argv[1] not in ("fill", "look", "note"):
    sys.exit(__doc__)
try:
    print(main(*sys.argv[1:]))
except (mf.Error, sqlite3.Error, OSError) as error:
    sys.exit(f"main.py: {error}")
