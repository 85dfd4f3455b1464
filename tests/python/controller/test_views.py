"""What a client keeps of an older controller, and for how long; whom a server tells that it goes."""

import asyncio
import uuid
from typing import Any

import pytest

import mf
from mf.controller._generated.mf.controller import ControllerAsyncClient, ControllerClient
from mf.controller._generated.mf.controller import Instance as Entry
from mf.controller._generated.mf.controller import View as Answer
from mf.controller.views import KEEP_OLD, Watched
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.controller.test_controller import Running, controller

__all__ = ["controller"]


def entry(number: int, agent: str = "a") -> Entry:
    nonce = uuid.UUID(int=number)
    return Entry(service="s", agent=agent, addresses=[f"tcp://127.0.0.1:{number}"], nonce=nonce)


def ports(watched: Watched, agent: str = "a") -> list[int]:
    return [int(each.address.rpartition(":")[2]) for each in watched.view.agents[agent]]


def test_what_an_older_controller_knew_stands_beside_what_the_new_one_says_for_a_while() -> None:
    watched = Watched()
    watched.takes(Answer(1, 5, [entry(1), entry(2)]), 100.0)

    watched.takes(Answer(2, 1, [entry(1)]), 101.0)
    assert ports(watched) == [1, 2]
    watched.takes(Answer(2, 2, [entry(1), entry(3)]), 101.0 + KEEP_OLD / 2)
    assert ports(watched) == [1, 3, 2]
    assert watched.takes(Answer(2, 2, [entry(1), entry(3)]), 101.0 + KEEP_OLD)
    assert ports(watched) == [1, 3]
    assert not watched.takes(Answer(2, 2, [entry(1), entry(3)]), 102.0 + KEEP_OLD)


def test_of_one_controller_only_the_newest_answer_counts_and_agents_stay_known() -> None:
    watched = Watched()
    watched.takes(Answer(1, 5, [entry(1), entry(2, "b")]), 100.0)

    assert watched.takes(Answer(1, 6, [entry(1)]), 100.0)

    assert ports(watched) == [1]
    assert ports(watched, "b") == []


def test_a_controller_that_was_lost_and_is_back_is_news() -> None:
    watched = Watched()
    answer = Answer(1, 5, [entry(1)])
    assert watched.takes(answer, 100.0)
    assert not watched.takes(answer, 100.0)

    assert watched.lost("away")
    assert not watched.lost("away")
    assert (ports(watched), watched.view.trouble) == ([1], "away")
    assert watched.takes(answer, 101.0)
    assert (ports(watched), watched.view.trouble) == ([1], "")


def test_a_question_waits_no_longer_than_what_is_old_counts() -> None:
    watched = Watched()
    assert watched.question(100.0)[0] == 0  # who waits for a first answer gets one at once
    watched.takes(Answer(1, 5, [entry(1)]), 100.0)
    longest = watched.question(100.0)[0]

    watched.takes(Answer(2, 1, []), 100.0)

    assert watched.question(100.0)[0] == KEEP_OLD * 1000 + 1 < longest
    assert watched.question(100.0 + 2 * KEEP_OLD)[0] == 1


class Told:
    """Notes that a controller is told good-bye, instead of doing so."""

    def __init__(self) -> None:
        self.count = 0

    def plain(self, *_: Any, **__: Any) -> None:
        self.count += 1

    async def awaited(self, *_: Any, **__: Any) -> None:
        self.count += 1


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize("way", ["blocking", "asyncio"])
def test_a_server_that_stops_tells_the_controller_unless_that_is_away(
    way: str,
    away: bool,
    controller: Running,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = Told()
    monkeypatch.setattr(ControllerClient, "deregister", told.plain)
    monkeypatch.setattr(ControllerAsyncClient, "deregister", told.awaited)

    def registered() -> bool:  # and the server knows that it is
        return controller.servant.keeps > 0

    def noticed() -> bool:
        return any("trying on" in record.getMessage() for record in caplog.records)

    async def serve() -> None:
        server = mf.AsyncServer(controller=controller.address)
        server.offer(AsyncRecorder(), agent="a")
        async with server:
            assert await asyncio.to_thread(eventually, registered)
            if away:
                await asyncio.to_thread(controller.stop)
                assert await asyncio.to_thread(eventually, noticed)

    if way == "asyncio":
        asyncio.run(serve())
    else:
        server = mf.Server(controller=controller.address)
        server.offer(Recorder(), agent="a")
        server.start()
        assert eventually(registered)
        if away:
            controller.stop()
            assert eventually(noticed)
        server.stop()

    assert told.count == (0 if away else 1)
