"""The native codec and sessions give back what they take: objects, references to them, and memory."""

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mf.codec.limits import DEFAULT_LIMITS
from mf.core.outcome import Outcome
from mf.protocol.calls import Request
from mf.protocol.cutting import of_module
from tests.fuzz.test_python_decoders import vectors
from tests.python.codec.generated import writable
from tests.python.native.plans import module, plan_of, read_purely

MESSAGES = max(20_000, int(os.environ.get("MF_SOAK_MESSAGES", "0")))
"""Of each tier; MF_SOAK_MESSAGES=1000000 takes a few minutes."""
GROWTH = 4 << 20
"""Bytes that the process may keep of all of them."""
TIERS = ("memcpy", "febird", "archive", "custom")
SESSIONS = "frames"


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


def frames() -> list[Callable[[], object]]:
    """Frames that are made, and cut in sessions of both sides: plain ones, and those that end a run."""
    functions = of_module(module())
    target = object()
    calls = [Request(1.0) for _ in range(20)]
    for call in calls:
        call.count = 1
    made: list[Any] = []
    for id_, status in enumerate((0, 0, 0, 1, 19, 20)):
        functions.append(made, 6, 1, 0, id_, status, 1, bytes(id_))
    replied = bytearray(b"".join(made))
    asked: list[Any] = []
    for id_ in range(1, 7):
        functions.append(asked, 5, 1, 0, id_, 0, 1, bytes(id_))
    requested = bytearray(b"".join(asked))

    def answer(call: Any, wrong: int) -> object:
        by_id = dict(enumerate(calls)) if wrong != 1 else {}
        call.route = 3 if wrong == 2 else 0
        return functions.replies(replied, 0, len(replied) - wrong, by_id, [])

    def ask(most: int) -> object:
        return functions.requests(requested, 0, len(requested), {0: target}, {4}, most, [])

    found: list[Callable[[], object]] = [lambda wrong=wrong: answer(calls[0], wrong) for wrong in range(3)]  # type: ignore[misc]
    found += [lambda most=most: ask(most) for most in range(4)]  # type: ignore[misc]
    found += [
        lambda: functions.append([], 6, 1, 0, 1, 0, 1, b"12345"),
        lambda: functions.append([], 6, 1, 0, 1, 0, 1, memoryview(b"1")),
        lambda: functions.outcomes([None, True, object(), [1], *range(300)]),
    ]
    return found


def run(tier: str, messages: int) -> None:
    each = frames() if tier == SESSIONS else works(tier)
    for at in range(messages):
        each[at % len(each)]()
        if at % 5_000 == 0:
            gc.collect()


@pytest.mark.parametrize("tier", [*TIERS, SESSIONS])
def test_memory_does_not_grow_with_messages(tier: str) -> None:
    run(tier, MESSAGES // 4)  # what is kept for good: caches, pools of small objects
    with collected():
        before = resident()
    with collected():
        run(tier, MESSAGES)

    assert resident() - before < GROWTH


def referred(tier: str) -> dict[Any, int]:
    """References to the classes of the values, and to what all values share."""
    shared: list[Any] = [None, True, False, b"", "", *range(8), Outcome]
    for codec, _ in vectors(tier) if tier != SESSIONS else ():
        shared += [each for each in (getattr(codec.shape, "type", None),) if isinstance(each, type)]
        shared += [each.type for each in getattr(codec.shape, "alternatives", ())]
    return {id(each): sys.getrefcount(each) for each in shared if each is not object}


@pytest.mark.parametrize("tier", [*TIERS, SESSIONS])
def test_no_reference_is_lost_or_kept(tier: str) -> None:
    run(tier, 2_000)
    with collected():
        before = referred(tier)
    with collected():
        run(tier, 6_000)
    after = referred(tier)

    moved = {each: after[each] - before[each] for each in before if abs(after[each] - before[each]) > 100}
    assert moved == {}


@pytest.mark.parametrize("tier", ["archive", SESSIONS])
def test_no_object_is_left(tier: str) -> None:
    run(tier, 2_000)
    with collected():
        before = len(gc.get_objects())
    with collected():
        run(tier, 6_000)

    assert len(gc.get_objects()) - before < 100


def test_an_outcome_in_its_own_value_is_found_by_the_collector() -> None:
    class Part:
        pass

    value: dict[str, object] = {}
    (outcome,) = of_module(module()).outcomes([value])
    part = value["part"] = Part()
    value["outcome"] = outcome
    is_there = weakref.ref(part)
    del value, outcome, part
    gc.collect()

    assert is_there() is None


def test_an_allocation_that_fails_is_an_error() -> None:
    pytest.importorskip("_testcapi", reason="this Python has no means to let an allocation fail")
    program = [sys.executable, "-X", "faulthandler", "-m", "tests.python.native.without_memory"]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


MIB = 1 << 20


def test_memory_that_is_in_use_is_not_used_again() -> None:
    memory = module().memory
    held = [memory(size) for size in (3 * MIB, 3 * MIB, 3 * MIB, 100_000)]
    for mark, each in enumerate(held):
        each[:] = bytes([mark + 1]) * len(each)
    part = held[1][MIB:]
    held[1] = memory(3 * MIB)
    held[1][:] = bytes(3 * MIB)

    assert bytes(part) == b"\x02" * (2 * MIB)
    assert [(each[0], each[-1], len(each)) for each in held] == [
        (1, 1, 3 * MIB),
        (0, 0, 3 * MIB),
        (3, 3, 3 * MIB),
        (4, 4, 100_000),
    ]


def test_little_memory_is_kept_whatever_sizes_arrive() -> None:
    memory = module().memory
    before = resident()
    for size in (2, 16, 3, 40, 31, 8, 16, 16, 64, 5):
        some = [memory(size * MIB) for _ in range(2)]
        for each in some:
            each[:] = bytes(len(each))
        del some, each
    assert resident() - before < 36 * MIB


@pytest.mark.parametrize("size", [0, -1])
def test_memory_has_a_size(size: int) -> None:
    with pytest.raises(ValueError, match="memory for no bytes"):
        module().memory(size)
