"""Unexpected exceptions in the background work with controllers: it continues with another attempt."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import mf
from mf.client import standing
from mf.controller.registration import Registration
from mf.controller.views import Watched
from mf.controller.watcher import Watcher
from mf.core.code_class import GOES_AWAY
from mf.core.error import Code, Error, Execution
from mf.transport.address import Address
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient

__all__ = ["controller"]


class Failing:
    """Fails on its first call."""

    def __init__(self, instead_of: Any) -> None:
        self.calls = 0
        self._instead_of = instead_of

    def of(self) -> Any:
        def called(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls == 1:
                raise RuntimeError("unforeseen")
            return self._instead_of(*arguments)

        return called


@contextmanager
def serving(address: str) -> Iterator[None]:
    server = mf.Server(controller=address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(Recorder(), agent="a")
    server.start()
    yield
    server.stop()


def call(address: str) -> int:
    with mf.Client(address) as client:
        return EchoClient(client).at("a").twice(1, options=mf.CallOptions(deadline=20))


async def served_by_asyncio(address: str) -> int:
    server = mf.AsyncServer(controller=address, options=mf.ServerOptions(drain_timeout=1.0))
    server.offer(AsyncRecorder(), agent="a")
    async with server, mf.AsyncClient(address) as client:
        return await EchoAsyncClient(client).at("a").twice(1, options=mf.CallOptions(deadline=20))


async def called_by_asyncio(address: str) -> int:
    with serving(address):
        async with mf.AsyncClient(address) as client:
            return await EchoAsyncClient(client).at("a").twice(1, options=mf.CallOptions(deadline=20))


def test_a_server_registers_after_a_failure_that_nobody_foresaw(
    controller: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(Registration.entries)
    monkeypatch.setattr(Registration, "entries", failing.of())
    with serving(controller.address):
        assert call(controller.address) == 2
    assert failing.calls > 1


def test_a_server_of_asyncio_registers_after_a_failure_that_nobody_foresaw(
    controller: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(Registration.entries)
    monkeypatch.setattr(Registration, "entries", failing.of())
    assert asyncio.run(served_by_asyncio(controller.address)) == 2
    assert failing.calls > 1


@pytest.mark.parametrize("awaited", [False, True])
def test_a_client_watches_on_after_a_failure_that_nobody_foresaw(
    controller: Running, monkeypatch: pytest.MonkeyPatch, awaited: bool
) -> None:
    failing = Failing(Watched.takes)
    monkeypatch.setattr(Watched, "takes", failing.of())
    if awaited:
        assert asyncio.run(called_by_asyncio(controller.address)) == 2
    else:
        with serving(controller.address):
            assert call(controller.address) == 2
    assert failing.calls > 1


@pytest.mark.parametrize("code", Code)
def test_a_client_is_told_why_its_watches_end_unless_the_controller_only_moves(
    code: Code, controller: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Another task detects and reports whether a controller answers."""
    ends, enough = 0, asyncio.Event()

    async def follow(*_: Any) -> None:
        nonlocal ends
        ends += 1
        if ends == 3:
            enough.set()
        raise Error(code, "no more", Execution.UNKNOWN)

    async def rest(_: float) -> None:
        await asyncio.sleep(0)

    async def watch() -> list[str]:
        nonlocal enough
        enough = asyncio.Event()
        told: list[str] = []
        one = Watcher([Address.parse(controller.address)], lambda _, view: told.append(view.trouble))
        one.watch("a.S")
        async with asyncio.timeout(20):
            await enough.wait()
        await one.end()
        return told

    monkeypatch.setattr(Watcher, "_follow", follow)
    monkeypatch.setattr(standing, "sleep", rest)
    why = f"the controller at {controller.address} does not answer: no more"
    with caplog.at_level(logging.WARNING, "mf"):
        told = asyncio.run(watch())

    said = [each.getMessage() for each in caplog.records]
    if code in GOES_AWAY:
        assert (told, said) == ([], [])
    else:
        assert told == [why]
        assert said == [f"'{why}'; trying on"]
