"""A mutant: one small change of one source file that tests ought to notice. Pure data, of any language."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Mutant:
    """`start` and `end` are places in the file's bytes; `now` replaces `was` there."""

    path: str  # below the root of the tree, with /
    start: int
    end: int
    was: str
    now: str
    line: int  # from 1 on
    text: str  # the whole line, without the space around it
    before: str = ""  # the line before it, likewise

    @property
    def change(self) -> str:
        return f"`{' '.join(self.was.split())}` -> `{' '.join(self.now.split())}`"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"

    def apply(self, data: bytes) -> bytes:
        assert data[self.start : self.end].decode() == self.was
        return data[: self.start] + self.now.encode() + data[self.end :]


def make(path: str, data: bytes, start: int, end: int, now: str) -> Mutant:
    """The mutant of a file with these bytes."""
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", start)
    text = data[first : len(data) if last < 0 else last].decode().strip()
    line = data.count(b"\n", 0, start) + 1
    before = data[data.rfind(b"\n", 0, max(first - 1, 0)) + 1 : first].decode().strip()
    return Mutant(path, start, end, data[start:end].decode(), now, line, text, before)


def write(root: Path, mutant: Mutant) -> bytes:
    """Changes the file below `root` and returns its previous content."""
    path = root / mutant.path
    data = path.read_bytes()
    path.write_bytes(mutant.apply(data))
    return data
