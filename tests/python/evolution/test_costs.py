"""What a peer's schema may cost its reader is bounded: in lines of Python that run for it, and in bytes that
are held at once. No clock is asked, so that a slow machine changes nothing."""

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from mf.core.service import ServiceInfo
from mf.evolution import measure
from mf.evolution.types import SchemaError
from mf.protocol.adapted import Adaptation
from mf.protocol.adapting import _made
from tests.python.echo import DESCRIPTOR
from tests.python.evolution.test_hostile import BOTH, REFUSED

MOST_PARTS = 1 << 12
"""Fewer than a program allows, so that the largest types are made in little time here, too."""
LINES, LINES_A_BYTE = 128 * MOST_PARTS, 100
BYTES, BYTES_A_BYTE = 8 << 20, 1000
"""Of any text, and by its length. A type with as many parts as are allowed needs most."""


@pytest.fixture(autouse=True)
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MOST_PARTS", MOST_PARTS)


class TooMuchError(Exception):
    pass


def lines_of(act: Callable[[], Any], most: int) -> int:
    """How many lines of Python run in it. Raises TooMuchError when they are more, so that it ends."""
    count = 0

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count > most:
                raise TooMuchError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def bytes_of(act: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def adapt(theirs: str, ours: str) -> None:
    """All that a client does with the descriptor of a server, up to each of its methods; refused or not."""
    info = ServiceInfo(name="demo.Echo", agent="shelf", descriptor=ours, fingerprint=b"", methods=())
    with suppress(SchemaError):
        found = _made(info, theirs, "")
        if isinstance(found, Adaptation):
            for index in range(len(found._plans)):
                found._find(index)


def chain(levels: int, tier: str, *fields: str, last: str = "x u8") -> str:
    """Structs each of which holds the next one as often as there are fields."""
    text = ""
    for level in range(levels):
        held = "".join(f" {field.format(f'a.T{level + 1}')}\n" for field in fields)
        text += f"type a.T{level} struct {tier}\n{held}"
    return f"{text}type a.T{levels} struct {tier}\n {last}\n"


def told(types: str, expression: str, tier: str = "memcpy") -> str:
    """A server's descriptor whose results have such a field beside the client's."""
    results = f"  results {tier}\n   value i32\n   more {expression}\n"
    return DESCRIPTOR.replace("  results memcpy\n   value i32\n", results) + types


def hostile() -> Iterator[tuple[str, str]]:
    yield from ((case, text) for case, (text, _) in REFUSED.items())
    yield from ((each["case"], each["descriptor"]) for each in BOTH)
    for tier in ("memcpy", "febird"):
        twice = ("x {}", "y {}")
        yield f"{tier}: doubled 60 times", told(chain(60, tier, *twice), "a.T0", tier)
        yield f"{tier}: doubled 7 times", told(chain(7, tier, *twice), "a.T0", tier)
        yield f"{tier}: a thousandfold 3 times", told(chain(3, tier, "x array<{},1000>"), "a.T0", tier)
        yield f"{tier}: many elements", told("", "array<array<u8,2>,4294967295>", tier)
        yield f"{tier}: the most elements", told("", "array<array<u8,2>,4194304>", tier)
        yield f"{tier}: elements of structs", told(chain(1, tier, "x {}", "y u8"), "array<a.T0,65535>", tier)
        yield f"{tier}: elements of 16 bytes", told("", "array<uuid,65535>", tier)
        many = "".join(f"type a.T{n} struct {tier}\n x u8\n" for n in range(300))
        yield f"{tier}: many types", told(many, "a.T0", tier)
        wide = f"type a.T struct {tier}\n" + "".join(f" x{n} u8\n" for n in range(1_000))
        yield f"{tier}: many fields", told(wide, "a.T", tier)
    yield "lists in lists", told("", "list<" * 60 + "u8" + ">" * 60, "febird")
    yield "optionals of optionals", told("", "u8" + "?" * 5000, "febird")
    methods = (f" method m{n}\n  params memcpy\n  results memcpy\n" for n in range(300))
    yield "many methods", DESCRIPTOR + "".join(methods)


CASES = dict(hostile())


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_schema_costs_what_its_length_allows(case: str) -> None:
    text = CASES[case]
    for ours in (DESCRIPTOR, text):  # what only one side has, and what both have

        def act(ours: str = ours) -> None:
            adapt(text, ours)

        lines_of(act, LINES + LINES_A_BYTE * len(text))
        assert bytes_of(act) < BYTES + BYTES_A_BYTE * len(text)


def test_a_reader_without_bounds_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mf.evolution.reading.measure", lambda *_: None)
    text = told(chain(10, "memcpy", "x {}", "y {}"), "a.T0")

    with pytest.raises(TooMuchError):
        lines_of(lambda: adapt(text, DESCRIPTOR), LINES + LINES_A_BYTE * len(text))
