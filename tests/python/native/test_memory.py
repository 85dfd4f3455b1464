"""The native codec gives back what it takes: objects, references to them, and memory."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mf.codec.limits import DEFAULT_LIMITS
from tests.fuzz.test_python_decoders import vectors
from tests.python.codec.generated import writable
from tests.python.native.plans import plan_of, read_purely

MESSAGES = max(20_000, int(os.environ.get("MF_SOAK_MESSAGES", "0")))
"""Of each tier; MF_SOAK_MESSAGES=1000000 takes a few minutes."""
GROWTH = 4 << 20
"""Bytes that the process may keep of all of them."""
TIERS = ("memcpy", "febird", "archive", "custom")


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def collected() -> Iterator[None]:
    """Graphs have rings, which only the collector finds."""
    gc.collect()
    yield
    gc.collect()


def works(tier: str) -> list[Callable[[], object]]:
    """Reads, writes, and reads of bytes that are cut off or changed, so that readers stop everywhere."""
    found: list[Callable[[], object]] = []
    for codec, data in vectors(tier)[::5]:
        plan = plan_of(codec.shape)
        value = writable(codec, read_purely(codec.shape, data).value)
        found.append(lambda plan=plan, value=value: plan.encode(value))  # type: ignore[misc]
        inputs = [data, data[: len(data) // 2], data[:-1], data + b"\0"]
        if data:
            inputs.append(data[:-1] + bytes((data[-1] ^ 0x81,)))
        for each in inputs:
            found.append(lambda plan=plan, each=each: plan.decode(each, DEFAULT_LIMITS.decoded))  # type: ignore[misc]
            found.append(lambda plan=plan, each=each: plan.decode(each, len(each)))  # type: ignore[misc]
    return found


def run(tier: str, messages: int) -> None:
    each = works(tier)
    for at in range(messages):
        each[at % len(each)]()
        if at % 5_000 == 0:
            gc.collect()


@pytest.mark.parametrize("tier", TIERS)
def test_memory_does_not_grow_with_messages(tier: str) -> None:
    run(tier, MESSAGES // 4)  # what is kept for good: caches, pools of small objects
    with collected():
        before = resident()
    with collected():
        run(tier, MESSAGES)

    assert resident() - before < GROWTH


def referred(tier: str) -> dict[Any, int]:
    """References to the classes of the values, and to what all values share."""
    shared: list[Any] = [None, True, False, b"", ""]
    for codec, _ in vectors(tier):
        shared += [each for each in (getattr(codec.shape, "type", None),) if isinstance(each, type)]
        shared += [each.type for each in getattr(codec.shape, "alternatives", ())]
    return {id(each): sys.getrefcount(each) for each in shared if each is not object}


@pytest.mark.parametrize("tier", TIERS)
def test_no_reference_is_lost_or_kept(tier: str) -> None:
    run(tier, 2_000)
    with collected():
        before = referred(tier)
    with collected():
        run(tier, 6_000)
    after = referred(tier)

    moved = {each: after[each] - before[each] for each in before if abs(after[each] - before[each]) > 100}
    assert moved == {}


def test_no_object_is_left() -> None:
    run("archive", 2_000)
    with collected():
        before = len(gc.get_objects())
    with collected():
        run("archive", 6_000)

    assert len(gc.get_objects()) - before < 100
