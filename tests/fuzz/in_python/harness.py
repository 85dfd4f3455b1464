"""What the fuzzers of Python have in common: a target, and how its seeds are changed.

A target takes any bytes, and says in words why it refuses them: nothing, if it takes them. Whatever else it
raises is a bug. An input that is refused in words that no input before it was refused in becomes a seed as
well, so that the changes lead further into a parser than those of the first seeds alone.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(__file__).parents[3] / "build/fuzz"
_ODD = (0, 1, 2, 0x7F, 0x80, 0xFF)
_SIZES = (1, 1, 2, 8)
_MOST_SEEDS = 2000
_LARGEST_SEED = 1 << 14
_WORD = re.compile(rb"[\w.]+|[^\w\s]|\s+")
_VALUE = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"|\d+|\S*\.\S+")


@dataclass(frozen=True, slots=True)
class Target:
    """`words`: what its language is made of. `cost`: how many times fewer inputs it gets than the others."""

    name: str
    seeds: Callable[[], list[bytes]]
    refusal: Callable[[bytes], str]
    words: tuple[bytes, ...] = ()
    cost: int = 1


def changed(data: bytes, draw: random.Random, words: tuple[bytes, ...] = ()) -> bytes:
    """One to four changes, of bytes; of a text with words most of them are of its words."""
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 3, 4))):
        if words and draw.random() < 0.8:
            _change_words(out, draw, words)
        else:
            _change_bytes(out, draw)
    return bytes(out)


def _change_words(out: bytearray, draw: random.Random, words: tuple[bytes, ...]) -> None:
    """A word becomes another one of the text or of its language, is doubled, or is left out."""
    start, end = draw.choice([each.span() for each in _WORD.finditer(out)] or [(0, 0)])
    match draw.randrange(6):
        case 0:
            del out[start:end]
        case 1:
            out[end:end] = out[start:end]
        case 2:
            out[start:start] = draw.choice(words)
        case 3:
            out[start:end] = draw.choice(words)
        case _:
            other = draw.choice([each.group() for each in _WORD.finditer(out)] or [b""])
            out[start:end] = other


def _change_bytes(out: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(out) + 1)
    match draw.randrange(4):
        case 0:
            out[at:at] = draw.randbytes(draw.choice(_SIZES))
        case 1:
            del out[at : at + draw.choice(_SIZES)]
        case 2:
            out[at : at + 1] = bytes([draw.choice(_ODD)])
        case _:
            out[at : at + 1] = draw.randbytes(1)


def mixed(one: bytes, other: bytes, draw: random.Random) -> bytes:
    """The begin of one and the end of the other, or the one with a part of the other; cut where lines end, if
    there are lines."""
    start, end = sorted((_place(other, draw), _place(other, draw)))
    at = _place(one, draw)
    if draw.random() < 0.5:
        return one[:at] + other[start:]
    return one[:at] + other[start:end] + one[draw.choice((at, _place(one, draw))) :]


def _place(data: bytes, draw: random.Random) -> int:
    at = draw.randrange(len(data) + 1)
    line = data.find(b"\n", at)
    return at if line < 0 else line + 1


class Fuzzer:
    """Runs one target on changed seeds. `accepted` counts the inputs that it took; `ways`: in how many
    different words it refused the others."""

    def __init__(self, target: Target, seed: int) -> None:
        self.target = target
        self.accepted = 0
        self._draw = random.Random(seed)
        self._seeds = target.seeds()
        self._known: set[str] = {""}

    @property
    def ways(self) -> int:
        return len(self._known) - 1

    def run(self, runs: int) -> None:
        for _ in range(runs):
            self._try(self._next())

    def _next(self) -> bytes:
        draw = self._draw
        data = draw.choice(self._seeds)
        if draw.random() < 0.3:
            data = mixed(data, draw.choice(self._seeds), draw)
        return changed(data, draw, self.target.words)

    def _try(self, data: bytes) -> None:
        """What the target does not withstand is kept as a file."""
        kept = BUILD / f"{self.target.name}.input"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)  # before it is tried: it may never return
        words = self.target.refusal(data)
        kept.unlink()
        self.accepted += words == ""
        kind = _VALUE.sub("_", words)
        if kind not in self._known:
            self._known.add(kind)
            if len(self._seeds) < _MOST_SEEDS and len(data) <= _LARGEST_SEED:
                self._seeds.append(data)
