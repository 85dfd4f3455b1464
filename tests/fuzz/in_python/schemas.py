"""Small pairs of schemas for the fuzzers of plans, in Python and in C++: each one method of two services,
with the types that it refers to, and the values of both sides.

    python -m tests.fuzz.in_python.schemas     counts them
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[2] / "vectors"
_NAME = re.compile(r"[\w.]+\.\w+")


@dataclass(frozen=True, slots=True)
class Texts:
    """Of a schema."""

    descriptor: str
    annex: str


@dataclass(frozen=True, slots=True)
class Pair:
    """`ours`: of the consumer. `requests`: bytes of its parameters; `results`: of the provider's results."""

    method: str
    ours: Texts
    theirs: Texts
    requests: tuple[bytes, ...]
    results: tuple[bytes, ...]


def joined(*texts: Texts) -> bytes:
    return b"\0".join(part.encode() for each in texts for part in (each.descriptor, each.annex))


@cache
def pairs() -> tuple[Pair, ...]:
    """Those of tests/vectors/evolution, in both directions."""
    found = []
    for path in sorted((VECTORS / "evolution").glob("*/cases.json")):
        file = json.loads(path.read_text())
        sides = {side: _Whole(file[side]) for side in ("old", "new")}
        for case in file["cases"]:
            for ours, theirs in (("old", "new"), ("new", "old")):
                direction = f"{ours}_to_{theirs}"
                if case[direction] is None:
                    continue
                values = [
                    each
                    for each in file["values"]
                    if (each["method"], each["direction"]) == (case["method"], direction)
                ]
                cut = [sides[side].cut(case["method"]) for side in (ours, theirs)]
                requests, results = _values(values, "request", "own"), _values(values, "result", "theirs")
                found.append(Pair(case["method"], cut[0], cut[1], requests, results))
    return tuple(found)


def _values(values: list[dict[str, Any]], part: str, side: str) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(each[part][side]) for each in values if part in each)


class _Whole:
    """A schema in blocks: the service, its methods, its types."""

    def __init__(self, file: dict[str, str]) -> None:
        descriptor, annex = _blocks(file["descriptor"]), _blocks(file["annex"])
        self._head, *rest = descriptor
        self._annex_head, *annex_rest = annex
        self._methods = {_words(each)[1]: each for each in rest if each.startswith(" method ")}
        self._types = {_words(each)[1]: each for each in rest if each.startswith("type ")}
        self._notes = {_words(each)[1]: each for each in annex_rest}

    def cut(self, method: str) -> Texts:
        """What is left of it for one method; all of it, where the other side calls the method otherwise."""
        methods = [self._methods[method]] if method in self._methods else list(self._methods.values())[:2]
        needed = dict.fromkeys(self._named("".join(methods)))
        for name in (waiting := list(needed)):
            for other in self._named(self._types[name]):
                if other not in needed:
                    needed[other] = None
                    waiting.append(other)
        types = "".join(self._types[name] for name in sorted(needed))
        names = [_words(each)[1] for each in methods]
        notes = "".join(text for name, text in self._notes.items() if name in needed or name in names)
        return Texts(self._head + "".join(methods) + types, self._annex_head + notes)

    def _named(self, text: str) -> list[str]:
        return [name for name in _NAME.findall(text) if name in self._types]


def _blocks(text: str) -> list[str]:
    """A service or annex line, methods, types: each with the lines that are indented more."""
    return re.split(r"(?m)^(?=type | method )", text)


def _words(block: str) -> list[str]:
    return block.split(None, 2)


if __name__ == "__main__":
    print(len(pairs()), sum(len(joined(each.ours, each.theirs)) for each in pairs()) // len(pairs()))
