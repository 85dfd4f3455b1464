"""What a child of a fork has of its parent's: everything ends at once with an mf.Error, and nothing that the
child does is felt by the parent."""

import asyncio
import multiprocessing
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder, Served
from tests.python.echo import ECHO_SERVICE, SLEEP, EchoAsyncClient, EchoClient, Seconds
from tests.python.flow import FlowClient
from tests.python.flowing import Plain
from tests.python.topics.made import PATIENCE, events, indexed

FORK = multiprocessing.get_context("fork")
HERE = "what the child did has ended otherwise"


def forked(act: Callable[[], Any]) -> Any:
    """What it returns in a child, or the mf.Error that it raises there."""
    ours, childs = FORK.Pipe()

    def child() -> None:
        try:
            result: Any = act()
        except mf.Error as failure:
            result = (failure.code.name, failure.message)
        except BaseException as other:
            result = f"{HERE}: {other!r}"
        childs.send_bytes(pickle.dumps(result))

    process = FORK.Process(target=child)
    process.start()
    try:
        assert ours.poll(PATIENCE), "the child hangs"
        return pickle.loads(ours.recv_bytes())
    finally:
        process.kill()
        process.join()


INHERITED = ("CONNECTION_LOST", "the connection belongs to the parent process")


@pytest.fixture
def flow() -> Iterator[FlowClient]:
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5))
    server.offer(Plain())
    server.start()
    with mf.Client(server.address) as client:
        yield FlowClient(client)
    server.stop()


def test_a_stream_that_is_read_ends_in_the_child_and_goes_on_in_the_parent(flow: FlowClient) -> None:
    numbers = flow.count(100_000)
    assert next(numbers) == 1

    def rest() -> list[int]:
        return list(numbers)

    assert forked(rest) == INHERITED
    assert sum(1 for _ in numbers) == 99_999


def test_a_stream_that_is_written_ends_in_the_child_and_goes_on_in_the_parent(flow: FlowClient) -> None:
    words = flow.shout()
    words.write("a")
    assert next(words) == "A"

    def write() -> str:
        words.write("b")
        return next(words)

    assert forked(write) == INHERITED
    assert forked(lambda: next(words)) == INHERITED
    words.write("c")
    assert next(words) == "C"
    words.done_writing()


def test_a_batch_ends_in_the_child_and_goes_on_in_the_parent(served: Served) -> None:
    target = served.client.target(ECHO_SERVICE).at("b")
    waiting = target.batch(SLEEP, [Seconds(1.0), Seconds(1.0)])

    def results() -> list[str]:
        return [repr(each.error) for each in waiting.results()]

    assert forked(results) == [f"mf.Error({INHERITED[0]}, {INHERITED[1]!r}, UNKNOWN)"] * 2
    assert [each.value() for each in waiting.results()] == [1.0, 1.0]


def test_a_subscriber_ends_in_the_child_and_goes_on_in_the_parent() -> None:
    topics = mf.Topics()
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5))
    server.offer(topics)
    server.start()
    publisher = events.AdditionsPublisher(topics)
    try:
        with mf.Client(server.address) as client:
            subscriber = events.AdditionsSubscriber(client, "*")
            assert publisher.await_subscribers(1, PATIENCE)
            assert forked(lambda: subscriber.next(PATIENCE).value.doc) == (
                "CONNECTION_LOST",
                f"the subscription to {publisher.mf_topic.name} belongs to the parent process",
            )
            publisher.at("books").publish(indexed(7))
            assert subscriber.next(PATIENCE).value.doc == 7
    finally:
        topics.close()
        server.stop()


def test_a_client_of_asyncio_is_closed_in_the_child_and_goes_on_in_the_parent(served: Served) -> None:
    async def main() -> Any:
        async with mf.AsyncClient(served.server.address) as client:
            echo = EchoAsyncClient(client).at("a")
            assert await echo.twice(1) == 2

            def anew() -> Any:
                return asyncio.run(called())

            async def called() -> int:
                return await echo.twice(2)

            found = forked(anew)
            return found, await echo.twice(3)

    found, result = asyncio.run(main())
    assert found == ("CANCELLED", "the client was closed")
    assert result == 6


def test_a_server_that_is_started_in_the_child_has_workers_of_its_own(served: Served) -> None:
    """Its parent's were busy, or idle: they are not here."""
    assert served.echo.at("b").twice(1) == 2

    def serve() -> int:
        server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5))
        server.offer(Recorder(), "b")
        with server, mf.Client(server.address) as client:
            return EchoClient(client).at("b").twice(4)

    assert forked(serve) == 8
    assert forked(lambda: served.server.stop()) is None
    assert served.echo.at("b").twice(2) == 4


def test_a_call_of_the_child_does_not_wait_for_a_lock_of_a_thread_of_the_parent(served: Served) -> None:
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            served.echo.at("b").twice(1)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert [forked(lambda: served.echo.at("b").twice(5)) for _ in range(10)] == [10] * 10
    finally:
        stop.set()
        for thread in threads:
            thread.join()
