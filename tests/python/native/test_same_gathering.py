"""The native function that gathers the values of a stream does what the pure one does: the same values are
appended, in the same order, and it stops at the same value for the same reason."""

import gc
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from mf.core.plain_struct import PlainStruct
from mf.protocol.cutting import ENDED, FULL, LOOK, PURE, of_module
from tests.python.native.plans import module


class Watched(PlainStruct):
    __slots__ = __match_args__ = ("state",)

    def __init__(self) -> None:
        self.state = True


class Unable:
    """A value that has no plain bytes: `encode` raises, or returns something else."""

    def __init__(self, raises: bool) -> None:
        self.raises = raises


def encode(value: Any) -> Any:
    if isinstance(value, Unable):
        if value.raises:
            raise ValueError("not plain")
        return NotImplemented
    return bytes(value)


@pytest.fixture(params=["pure", "native"])
def gather(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return PURE.gather if request.param == "pure" else of_module(module()).gather


@pytest.fixture
def both() -> tuple[Callable[..., Any], ...]:
    return PURE.gather, of_module(module()).gather


@pytest.mark.parametrize("seed", range(100))
def test_both_stop_at_the_same_values_for_the_same_reasons(
    both: tuple[Callable[..., Any], ...], seed: int
) -> None:
    draw = Random(seed)
    given = [draw.choice((0, 1, 10, 100, 300, Unable(raises=True), Unable(raises=False))) for _ in range(200)]
    disturbs = {draw.randrange(200) for _ in range(5)}
    limits = [(draw.choice((1, 50, 1000)), draw.choice((1, 3, 1000))) for _ in range(500)]
    runs: list[list[Any]] = []
    for function in both:
        owner, values, found = Watched(), list[bytes](), list[Any]()

        def each(owner: Watched = owner) -> Iterator[Any]:
            for at, value in enumerate(given):
                owner.state = at not in disturbs
                yield value

        iterator = each()
        for room, most in limits:
            stopped = function(iterator, encode, values, 200, room, most, ((owner, "state", True),))
            found.append((stopped, len(values), owner.state))
            if stopped == ENDED:
                break
        assert found[-1][0] == ENDED
        runs.append([found, values])

    assert runs[0] == runs[1]
    assert {type(stopped) for stopped, _, _ in runs[0][0]} == {int, tuple}


def test_a_frame_is_full_of_bytes_or_of_values(gather: Callable[..., Any]) -> None:
    given, values = iter([10] * 9), list[bytes]()

    assert gather(given, encode, values, 100, 25, 100, ()) == FULL
    assert len(values) == 3
    assert gather(given, encode, values, 100, 1000, 2, ()) == FULL
    assert len(values) == 5
    assert gather(given, encode, values, 100, 1000, 100, ()) == ENDED
    assert values == [bytes(10)] * 9


def test_it_looks_at_the_guards_behind_each_value(gather: Callable[..., Any]) -> None:
    owner, other, values = Watched(), Watched(), list[bytes]()
    other.state = False

    guards = (owner, "state", True), (other, "state", True)
    assert gather(iter([1, 2, 3]), encode, values, 100, 1000, 100, guards) == LOOK
    assert values == [b"\0"]


def test_a_value_that_is_too_long_is_given_back(gather: Callable[..., Any]) -> None:
    given, values = iter([5, 101, 7]), list[bytes]()

    assert gather(given, encode, values, 100, 1000, 100, ()) == (101,)
    assert gather(given, encode, values, 100, 1000, 100, ()) == ENDED
    assert values == [bytes(5), bytes(7)]


def test_what_the_iterator_raises_is_raised_behind_the_values_before(gather: Callable[..., Any]) -> None:
    def given() -> Iterator[int]:
        yield 3
        raise KeyError("oops")

    values: list[bytes] = []
    with pytest.raises(KeyError, match="oops"):
        gather(given(), encode, values, 100, 1000, 100, ())
    assert values == [bytes(3)]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_end_of_the_program_is_no_bad_value(
    gather: Callable[..., Any], raised: type[BaseException]
) -> None:
    def interrupted(_: Any) -> bytes:
        raise raised

    with pytest.raises(raised):
        gather(iter([1]), interrupted, [], 100, 1000, 100, ())


def test_a_guard_without_the_attribute_is_an_error(gather: Callable[..., Any]) -> None:
    with pytest.raises(AttributeError):
        gather(iter([1]), encode, [], 100, 1000, 100, ((object(), "state", True),))


@pytest.mark.parametrize(
    "wrong",
    [
        ((1,), encode, [], 1, 1, 1, ()),
        (iter(()), encode, (), 1, 1, 1, ()),
        (iter(()), encode, [], "1", 1, 1, ()),
        (iter(()), encode, [], 1, 1, 1, [1]),
        (iter(()), encode, [], 1, 1, 1, ((1,),)),
        (iter(()), encode, []),
    ],
)
def test_native_arguments_of_other_types_are_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        module().gather(*wrong)


def test_references_are_as_many_as_before(gather: Callable[..., Any]) -> None:
    value, marker, owner = Unable(raises=True), object(), Watched()
    guard = owner, "state", True

    def once() -> None:
        values: list[bytes] = []
        gather(iter([1, value, 2]), encode, values, 100, 1000, 100, (guard,))
        gather(iter([marker]), lambda _: b"", values, 100, 1000, 100, (guard,))

    once()
    gc.collect()
    before = [sys.getrefcount(each) for each in (value, marker, owner, guard)]
    for _ in range(1000):
        once()
    gc.collect()
    after = [sys.getrefcount(each) for each in (value, marker, owner, guard)]

    assert before == after
