"""Names that a generator of code could stumble over."""

import random

from tests.names.make import words

PLAIN = (
    "id",
    "name",
    "title",
    "Hit",
    "Person",
    "Rank",
    "count",
    "tags",
    "a",
    "b",
    "x",
    "Node",
    "next",
    "HTTPServer",
)
WORDS = words()


class Names:
    """Names for one scope: awkward words, plain ones, and near doubles of what is there."""

    def __init__(self, dice: random.Random, excluded: set[str] | None = None) -> None:
        self._dice = dice
        self._taken: set[str] = set()
        self._excluded = excluded or set()

    def take(self) -> str:
        while True:
            name = self._one()
            if name not in self._taken and name not in self._excluded:
                self._taken.add(name)
                return name

    def _one(self) -> str:
        chance = self._dice.random()
        if chance < 0.25 and self._taken:
            return self._twisted(self._dice.choice(sorted(self._taken)))
        if chance < 0.5:
            return self._dice.choice(PLAIN)
        return self._dice.choice(WORDS)

    def _twisted(self, name: str) -> str:
        return self._dice.choice(
            (
                f"{name}_",
                f"_{name}",
                f"{name}s",
                f"{name}_1",
                f"is_{name}",
                f"of_{name}",
                f"{name}Client",
                f"{name}Graph",
                f"{name}__x",
                name.upper(),
                name.lower(),
                name.capitalize(),
                "".join(part.capitalize() for part in name.split("_")) or name,
                name.replace("_", "__"),
            )
        )
