"""A streamed call that comes back: when it is opened again, and after which pause. The pauses are the
test's."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from mf.client import standing
from mf.client.standing import StandingCall, side_by_side
from mf.core.backoff import FIRST
from mf.core.error import Code, Error


class Full:
    """The longest pause each time."""

    def random(self) -> float:
        return 1.0


class Kept:
    """Runs a standing call, one session after another, and notes the pauses between them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.ends: list[Exception | None] = []
        monkeypatch.setattr(standing, "sleep", self._sleep)
        monkeypatch.setattr(standing, "monotonic", lambda: self.now)
        monkeypatch.setattr("mf.core.backoff.JITTER", Full())

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def run(self, call: StandingCall, *sessions: Callable[[StandingCall], None]) -> None:
        left: Iterator[Callable[[StandingCall], None]] = iter(sessions)

        async def session() -> None:
            next(left)(call)

        def goes_on(ended: Exception | None) -> bool:
            self.ends.append(ended)
            return len(self.ends) < len(sessions)

        asyncio.run(call.keep(session, goes_on))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    return Kept(monkeypatch)


def nothing(_: StandingCall) -> None:
    """The stream ends before the peer has answered."""


def refused(_: StandingCall) -> None:
    raise Error(Code.UNAVAILABLE, "no server is there")


def test_pauses_grow_while_nobody_answers(kept: Kept) -> None:
    kept.run(StandingCall(longest=FIRST * 4), *[nothing] * 5)

    assert kept.pauses == [FIRST, FIRST * 2, FIRST * 4, FIRST * 4]


def test_an_answer_lets_the_pauses_start_anew(kept: Kept) -> None:
    kept.run(StandingCall(), nothing, nothing, StandingCall.answered, nothing)

    assert kept.pauses == [FIRST, FIRST * 2, FIRST]


def test_an_answer_counts_only_if_its_stream_lasts_where_that_is_asked_for(kept: Kept) -> None:
    def answers_for(seconds: float) -> Callable[[StandingCall], None]:
        def session(call: StandingCall) -> None:
            kept.now += 1.0
            call.answered()
            kept.now += seconds

        return session

    kept.run(StandingCall(steady=1.0), nothing, answers_for(0.9), answers_for(1.0), nothing)

    assert kept.pauses == [FIRST, FIRST * 2, FIRST]


def test_the_reason_of_each_end_is_told_and_the_last_one_ends_it(kept: Kept) -> None:
    kept.run(StandingCall(), refused, nothing, refused)

    assert [None if end is None else str(end) for end in kept.ends] == [
        "UNAVAILABLE: no server is there (may have run)",
        None,
        "UNAVAILABLE: no server is there (may have run)",
    ]
    assert len(kept.pauses) == 2


def test_one_direction_that_ends_ends_the_other_and_its_failure_counts() -> None:
    ended: list[str] = []

    async def goes_on() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("the other")

    async def fails() -> None:
        raise Error(Code.CONNECTION_LOST, "cut")

    async def run() -> None:
        await side_by_side(goes_on(), fails())

    with pytest.raises(Error, match="cut"):
        asyncio.run(run())
    assert ended == ["the other"]
