"""Of all servers that ask for the lead of a service and agent, one holds it at a time, and its epoch is
larger than all earlier ones.
"""

import asyncio
import logging
import threading
from collections.abc import Iterator

import pytest

import mf
from mf.client import standing
from mf.core.error import Code
from tests.python.conftest import AsyncRecorder, Recorder, eventually
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncServant, EchoServant

__all__ = ["controller"]


@pytest.fixture
def servers(controller: Running) -> Iterator[list[mf.Server]]:
    made = [
        mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
        for _ in range(2)
    ]
    for each in made:
        each.offer(Recorder(), agent="a")
        each.start()
    yield made
    for each in made:
        each.stop()


def has(lead: mf.Lead | mf.AsyncLead) -> bool:
    """Whether it is held now; a function, since type checkers assume that the attribute is constant."""
    return lead.held


class Waiting:
    """A thread that waits for the lead of a server."""

    def __init__(self, server: mf.Server) -> None:
        self.lead = server.lead(EchoServant, "a")
        self.failure: mf.Error | None = None
        self.leave = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self.lead:
                self.leave.wait(30.0)
        except mf.Error as failure:
            self.failure = failure

    def end(self) -> None:
        self.leave.set()
        self._thread.join(10.0)
        assert not self._thread.is_alive()


def test_the_next_one_has_it_when_the_first_has_given_it_up(servers: list[mf.Server]) -> None:
    with servers[0].lead(EchoServant, "a") as first:
        next_one = Waiting(servers[1])
        assert has(first)
        assert not first.lost(timeout=0.1)
        assert not has(next_one.lead)
    assert eventually(lambda: has(next_one.lead))
    assert not has(first)
    assert next_one.lead.epoch > first.epoch > 0
    next_one.end()
    assert not has(next_one.lead)


def test_who_is_refused_rests_before_it_asks_again_and_the_log_says_why(
    controller: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def rest(seconds: float) -> None:
        rests.append((controller.servant.refuses_leads, seconds > 0))

    rests: list[tuple[int, bool]] = []
    controller.servant.refuses_leads = 3
    server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Recorder(), agent="a")
    with server, caplog.at_level(logging.WARNING, "mf"):
        monkeypatch.setattr(standing, "sleep", rest)
        with server.lead(EchoServant, "a") as one:
            assert has(one)
            assert rests == [(2, True), (1, True), (0, True)]
        monkeypatch.undo()
    # At the first refusal the offer may still be on its way.
    assert sum("not you" in each.getMessage() for each in caplog.records) == 2


def test_leads_of_other_agents_are_others(controller: Running) -> None:
    server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
    with server, server.lead(EchoServant, "a") as one, server.lead(EchoServant, "b") as other:
        assert has(one)
        assert has(other)


def test_who_is_not_registered_any_more_has_lost_it(controller: Running, servers: list[mf.Server]) -> None:
    with servers[0].lead(EchoServant, "a") as lead:
        controller.forget()
        assert lead.lost(timeout=10.0)
        assert not has(lead)
    with servers[1].lead(EchoServant, "a") as again:  # registered again in the meantime
        assert again.epoch > lead.epoch


def test_it_is_lost_with_the_controller_and_given_again_when_that_is_back(
    controller: Running, servers: list[mf.Server]
) -> None:
    with servers[0].lead(EchoServant, "a") as lead:
        epochs = controller.servant.epochs
        controller.stop()
        assert lead.lost(timeout=10.0)
    controller.start()
    controller.servant.epochs.update(epochs)
    with servers[1].lead(EchoServant, "a") as again:
        assert again.epoch > lead.epoch


def test_who_waits_learns_that_its_server_is_stopped(servers: list[mf.Server]) -> None:
    with servers[0].lead(EchoServant, "a"):
        waiting = Waiting(servers[1])
        servers[1].stop()
        waiting.end()
    assert waiting.failure is not None
    assert waiting.failure.code is Code.CANCELLED
    assert waiting.failure.message == "the server was stopped"


def test_who_has_it_loses_it_with_its_server(servers: list[mf.Server]) -> None:
    with servers[0].lead(EchoServant, "a") as lead:
        servers[0].stop()
        assert lead.lost(timeout=10.0)
        assert not has(lead)


def test_a_server_without_a_controller_and_one_that_is_not_started_have_none() -> None:
    with pytest.raises(ValueError, match="this server has none"):
        mf.Server().lead(EchoServant, "a")
    with pytest.raises(ValueError, match="start the server first"):
        mf.Server(controller="mf://127.0.0.1:1").lead(EchoServant, "a")


def test_tasks_wait_for_it_and_give_it_up_when_they_are_cancelled(controller: Running) -> None:
    async def main() -> None:
        servers = [
            mf.AsyncServer(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
            for _ in range(3)
        ]
        for each in servers:
            each.offer(AsyncRecorder(), agent="a")
        async with servers[0], servers[1], servers[2]:
            first = servers[0].lead(EchoAsyncServant, "a")
            async with first:
                giving_up = asyncio.create_task(servers[1].lead(EchoAsyncServant, "a").__aenter__())
                await asyncio.sleep(0.05)
                giving_up.cancel()
                await asyncio.wait((giving_up,))
                assert giving_up.cancelled()
                last = servers[2].lead(EchoAsyncServant, "a")
                waiting = asyncio.create_task(last.__aenter__())
                await asyncio.sleep(0.05)
                assert not has(last)
            await waiting
            assert has(last)
            assert last.epoch > first.epoch
            controller.forget()
            await last.lost()
            await last.__aexit__()

    asyncio.run(main())
