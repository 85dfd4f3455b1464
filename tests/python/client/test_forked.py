"""What a child of a fork has of its parent's: everything ends at once with an mf.Error, and nothing that the
child does is felt by the parent."""

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder, Served
from tests.python.echo import ECHO_SERVICE, SLEEP, EchoAsyncClient, EchoClient, Seconds
from tests.python.flow import FlowClient
from tests.python.flowing import Plain
from tests.python.forking import INHERITED, forked
from tests.python.topics.made import PATIENCE, events, indexed

LOST = f"Outcome(error=mf.Error({INHERITED[0]}, {INHERITED[1]!r}, UNKNOWN))"


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
    """The workers of the parent, busy or idle, are not in the child."""
    assert served.echo.at("b").twice(1) == 2

    def serve() -> int:
        server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=0.5))
        server.offer(Recorder(), "b")
        with server, mf.Client(server.address) as client:
            return EchoClient(client).at("b").twice(4)

    assert forked(serve) == 8
    assert forked(lambda: served.server.stop()) is True
    assert served.echo.at("b").twice(2) == 4


def test_a_call_in_a_child_does_not_wait_for_locks_of_the_parent(served: Served) -> None:
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


def forked_by_a_signal(wait: Callable[[], Any]) -> Any:
    """What `wait` gives in a child that a signal handler forks while the parent is within it: the outcomes of
    the child and of the parent. The handler of the child returns into `wait`."""
    ours, childs = os.pipe()
    children = []

    def fork(*_: object) -> None:
        children.append(os.fork())

    before = signal.signal(signal.SIGUSR1, fork)
    main = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGUSR1))
    timer.start()
    try:
        result = wait()
    except mf.Error as failure:
        result = (failure.code.name, failure.message)
    except BaseException as other:
        result = f"it has ended otherwise: {other!r}"
    if children == [0]:
        os.write(childs, repr(result).encode())
        os._exit(0)
    signal.signal(signal.SIGUSR1, before)
    timer.join()
    os.close(childs)
    (child,) = children
    try:
        assert select.select([ours], [], [], PATIENCE)[0], "the child hangs"
        return os.read(ours, 65_536).decode(), result
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ours)


def test_a_scattered_call_within_which_a_process_forks_ends_in_the_child(served: Served) -> None:
    """Its requests were sent by the parent, which gets the replies."""
    served.server.offer(served.servant, "c")
    target = served.client.target(ECHO_SERVICE).on(["b", "c"])

    def scatter() -> list[str]:
        return [repr(each) for each in target.call(SLEEP, None, 1.0).values()]

    child, parent = forked_by_a_signal(scatter)

    assert parent == ["Outcome(1.0)"] * 2
    assert child == repr([LOST] * 2)


def test_a_child_finds_servers_while_another_thread_of_its_parent_is_about_to_find_them(
    served: Served,
) -> None:
    """It is forked while that thread has the lock of the finder."""
    target = served.client.target(ECHO_SERVICE)
    finder = target.router.finder(ECHO_SERVICE, "b")  # type: ignore[attr-defined]

    with finder.lock:
        assert forked(lambda: EchoClient(served.client).at("b").twice(2)) == 4


def test_a_scattered_call_that_a_fork_finds_while_it_binds_goes_on_where_nothing_was_sent(
    served: Served,
) -> None:
    """The handler of `a` holds up the server's thread, and so the answer to the BIND for `b`."""
    target = served.client.target(ECHO_SERVICE).on(["a", "b"])

    def scatter() -> list[str]:
        return [repr(each) for each in target.call(SLEEP, None, 1.0).values()]

    child, parent = forked_by_a_signal(scatter)

    assert parent == ["Outcome(1.0)"] * 2
    assert child == repr([LOST, "Outcome(1.0)"])


def test_a_call_within_which_a_process_forks_ends_in_the_child(served: Served) -> None:
    target = served.client.target(ECHO_SERVICE).at("b")

    child, parent = forked_by_a_signal(lambda: target.call(SLEEP, None, 1.0))

    assert parent == 1.0
    assert child == repr(INHERITED)


def test_awaited_calls_end_in_a_child_that_goes_on_with_their_loop(served: Served) -> None:
    """Each of them would wait for its deadline: no reply comes to the child."""

    async def main() -> Any:
        async with mf.AsyncClient(served.server.address) as client:
            target = client.async_target(ECHO_SERVICE)
            async with asyncio.TaskGroup() as group:
                one = group.create_task(outcome(target.at("b").call(SLEEP, None, 1.0)))
                some = group.create_task(outcome(target.on(["a", "b"]).call(SLEEP, None, 1.0)))
                items = [Seconds(0.5), Seconds(0.5)]
                batch = group.create_task(outcome(target.at("b").batch(SLEEP, items)))
                await asyncio.sleep(0.3)
                child = os.fork()
            found = [str(each.result()) for each in (one, some, batch)]
            if child == 0:
                os.write(childs, "\n".join(found).encode())
                os._exit(0)
            return child, found

    async def outcome(call: Any) -> Any:
        try:
            return await call
        except mf.Error as failure:
            return repr(failure)

    ours, childs = os.pipe()
    child, parents = asyncio.run(main())
    try:
        assert select.select([ours], [], [], PATIENCE)[0], "the child hangs"
        lines = os.read(ours, 65_536).decode().splitlines()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    assert "Error" not in " ".join(parents)
    assert len(lines) == 3
    assert [line.count("CONNECTION_LOST") for line in lines] == [1, 2, 2]
