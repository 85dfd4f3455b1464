"""The mutants that no test can notice, each with its reason: tests/mutants.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.mutant import Mutant


@dataclass(frozen=True, slots=True)
class Equivalent:
    file: str
    line: str  # the line's text, so that it is found when it moves
    change: str  # as Mutant.change says it
    reason: str
    behind: str | None = None  # the text of the line before it, if several lines are the same

    def fits(self, mutant: Mutant) -> bool:
        if self.behind not in (None, mutant.before):
            return False
        return (mutant.path, mutant.text, mutant.change) == (self.file, self.line, self.change)


def read(path: Path) -> list[Equivalent]:
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return [Equivalent(**entry) for entry in entries]
