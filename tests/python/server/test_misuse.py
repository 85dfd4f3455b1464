"""An argument of a wrong kind is named in one sentence, together with what to pass instead."""

import asyncio
from typing import Any

import pytest

import mf
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import EchoAsyncClient, EchoClient, Number


def test_an_error_names_a_client_of_the_other_kind() -> None:
    async def run() -> None:
        async with mf.AsyncClient("tcp://127.0.0.1:1") as client:
            with pytest.raises(
                TypeError,
                match="the AsyncClient is asynchronous: give this client",
            ):
                EchoClient(client)  # type: ignore[arg-type]

    asyncio.run(run())
    with mf.Client("tcp://127.0.0.1:1") as client:
        words = (
            "the Client blocks: give this client of demo.Echo an mf.AsyncClient, or give the Client to Echo"
        )
        with pytest.raises(TypeError, match=words):
            EchoAsyncClient(client)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{"deadline": 1.0}, 1.0, "deadline=1"])
def test_an_error_names_what_is_no_call_options(options: Any) -> None:
    words = rf"options is a {type(options).__name__}: give mf.CallOptions, as options=mf.CallOptions\("
    with mf.Client("tcp://127.0.0.1:1") as client, pytest.raises(TypeError, match=words):
        EchoClient(client).at("a").twice(1, options=options)
    light = mf.Light()
    light.offer(Recorder(), agent="a")
    with pytest.raises(TypeError, match=words):
        EchoClient(light).at("a").twice(1, options=options)


def test_call_options_are_refused_for_a_batch() -> None:
    with mf.Client("tcp://127.0.0.1:1") as client, pytest.raises(TypeError, match=r"give mf.BatchOptions"):
        EchoClient(client).at("a").twice_batch([Number(1)], options=mf.CallOptions())  # type: ignore[arg-type]


@pytest.mark.parametrize("offer", [mf.Server().offer, mf.Light().offer])
def test_a_class_or_text_is_not_offered(offer: Any) -> None:
    with pytest.raises(TypeError, match=r"Recorder is a class, and an object of it is offered: Recorder\(\)"):
        offer(Recorder, agent="a")
    with pytest.raises(TypeError, match="str derives from no generated servant class"):
        offer("demo.Echo", agent="a")


def test_a_class_or_text_is_not_offered_by_an_async_server() -> None:
    async def run() -> None:
        server = mf.AsyncServer()
        with pytest.raises(TypeError, match=r"AsyncRecorder is a class"):
            server.offer(AsyncRecorder, agent="a")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="str derives from no generated servant class"):
            server.offer("demo.Echo", agent="a")  # type: ignore[arg-type]

    asyncio.run(run())
