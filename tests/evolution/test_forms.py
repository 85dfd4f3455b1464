"""Every form of a call between peers whose schemas differ: batches, streams, errors, one-way calls, topics,
and several servers of several schemas.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from tests.evolution.serving import calling, servant_of, served
from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running

PATIENCE = 20.0


def failure(call: Callable[[], Any]) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        call()
    return raised.value


def test_what_only_the_newer_schema_has_takes_its_default_and_is_left_out_on_the_way_back(
    old: Any, new: Any
) -> None:
    with calling(new, old) as (servant, client):
        assert client.echo(old.Item(7, "seven")) == old.Item(7, "seven")
        assert servant.came == [new.Item("seven", 7, 1.5)]
    with calling(old, new) as (servant, client):
        assert client.echo(new.Item("seven", 7, 9.0)) == new.Item("seven", 7, 1.5)
        assert servant.came == [old.Item(7, "seven")]


def test_a_declared_error_arrives_in_the_schema_of_the_client(old: Any, new: Any) -> None:
    with calling(new, old) as (servant, client):
        servant.raises = new.NotThere(7, ["six"])
        with pytest.raises(old.NotThere) as raised:
            client.echo(old.Item(7, ""))
        assert raised.value == old.NotThere(7)

        servant.raises = new.NotThere(70_000, [])
        error = failure(lambda: client.echo(old.Item(7, "")))
        assert (error.code, error.execution) == (Code.DECODE_ERROR, Execution.UNKNOWN)
        words = "Forms.echo: error NotThere: id: 70000 does not fit u16 of the client's schema"
        assert error.message == f"{servant.peer}: {words}"

        servant.raises = new.Full("too much")
        error = failure(lambda: client.echo(old.Item(7, "")))
        assert (error.code, error.execution) == (Code.HANDLER_FAILED, Execution.UNKNOWN)
        words = "Forms.echo: Full was thrown, which the client's schema does not declare"
        assert error.message == f"{servant.peer}: {words}"
    with calling(old, new) as (servant, client):
        servant.raises = old.NotThere(9)
        with pytest.raises(new.NotThere) as raised:
            client.echo(new.Item("", 9))
        assert raised.value == new.NotThere(9, [])


def test_each_item_of_a_batch_has_a_fate_of_its_own(old: Any, new: Any) -> None:
    with calling(new, old) as (servant, client):
        servant.answers = lambda item: new.Item(item.title, item.id * 1000)
        requests = [old.FormsEchoRequest(old.Item(n, "")) for n in range(300)]
        outcomes = client.echo_batch(requests).results()

        assert [each.value().id for each in outcomes[:66]] == [n * 1000 for n in range(66)]
        for n, outcome in enumerate(outcomes[66:], 66):
            assert outcome.error.code is Code.DECODE_ERROR
            words = f"Forms.echo: result value.id: {n * 1000} does not fit u16 of the client's schema"
            assert outcome.error.message == f"{servant.peer}: {words}"


def test_an_item_that_does_not_go_over_fails_alone_and_is_never_sent(old: Any, new: Any) -> None:
    ids = [1, 70_000, *range(200), 80_000, 5]
    with calling(old, new) as (servant, client):
        outcomes = client.echo_batch([new.FormsEchoRequest(new.Item("", each)) for each in ids]).results()

        for each, outcome in zip(ids, outcomes, strict=True):
            if each < 65_536:
                assert outcome.value() == new.Item("", each)
                continue
            error = outcome.error
            assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED)
            words = f"Forms.echo: parameter item.id: {each} does not fit u16 of the server's schema"
            assert error.message == f"{servant.peer}: {words}"
        assert sorted(item.id for item in servant.came) == sorted(each for each in ids if each < 65_536)


def test_a_bulk_and_a_one_way_call_are_written_anew(old: Any, new: Any) -> None:
    with calling(old, new) as (servant, client):
        outcomes = client.echo_bulk([new.FormsEchoRequest(new.Item("", each)) for each in range(3)])
        assert [outcome.value().id for outcome in outcomes] == [0, 1, 2]
        servant.came.clear()
        client.note(new.Item("a", 7))
        assert failure(lambda: client.note(new.Item("b", 70_000))).code is Code.INVALID_ARGUMENT
        client.note(new.Item("c", 8))
        assert eventually(lambda: servant.came == [old.Item(7, "a"), old.Item(8, "c")])


def test_a_batch_of_a_method_that_no_rule_allows_is_refused_in_words(old: Any, new: Any) -> None:
    with calling(new, old) as (servant, client):
        outcomes = client.apart_batch([old.FormsApartRequest(1), old.FormsApartRequest(2)]).results()

        for outcome in outcomes:
            assert (outcome.error.code, outcome.error.execution) == (
                Code.SCHEMA_MISMATCH,
                Execution.NOT_EXECUTED,
            )
            words = f"{servant.peer}: Forms.apart: parameter x: u32 here, string there"
            assert outcome.error.message == words


def test_streams_go_both_ways(old: Any, new: Any) -> None:
    with calling(new, old) as (_, client):
        assert list(client.squares(3)) == [old.Item(0, "0"), old.Item(1, "1"), old.Item(4, "2")]
        assert client.sum([1, 2, 65_535]) == 65_538
        items = [old.Item(n, str(n)) for n in range(2_000)]
        with client.both() as stream:
            for item in items:
                stream.write(item)
            stream.done_writing()
            assert list(stream) == items
    with calling(old, new) as (_, client):
        assert client.sum(range(1_000)) == sum(range(1_000))
        assert [item.id for item in client.squares(3)] == [0, 1, 4]


def test_a_value_of_a_stream_that_does_not_go_over_ends_the_call_in_words(old: Any, new: Any) -> None:
    with calling(new, old) as (servant, client):
        got: list[int] = []

        def read() -> None:
            for each in client.squares(300):
                got.append(each.id)

        error = failure(read)
        assert got == [n * n for n in range(256)]
        words = "Forms.squares: result stream: id: 65536 does not fit u16 of the client's schema"
        assert error.message == f"{servant.peer}: {words}"
    with calling(old, new) as (servant, client):
        error = failure(lambda: client.sum([1, 70_000]))
        assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.UNKNOWN)
        words = "Forms.sum: parameter stream: 70000 does not fit u16 of the server's schema"
        assert error.message == f"{servant.peer}: {words}"


def test_methods_that_only_one_side_has_are_unknown_for_that_side_alone(old: Any, new: Any) -> None:
    with calling(new, old) as (servant, client):
        error = failure(client.gone)
        assert (error.code, error.execution) == (Code.UNKNOWN_METHOD, Execution.NOT_EXECUTED)
        assert error.message == f"{servant.peer}: Forms.gone: method only here"
        assert client.echo(old.Item(1, "")) == old.Item(1, "")
    with calling(old, new) as (servant, client):
        assert failure(client.come).message == f"{servant.peer}: Forms.come: method only here"


def test_metadata_goes_with_a_request_that_is_written_anew(old: Any, new: Any) -> None:
    seen: list[dict[str, str]] = []
    servant = servant_of(new)

    def note(item: Any) -> Any:
        seen.append(dict(mf.current_call().metadata))
        return item

    servant.answers = note
    with served(servant) as server, mf.Client(server.address) as client:
        stub = old.FormsClient(client)
        options = mf.CallOptions(metadata={"tenant": "blue"})
        assert stub.echo(old.Item(1, "a"), options=options) == old.Item(1, "a")
    assert seen[0]["tenant"] == "blue"


def test_a_topic_of_a_newer_publisher_is_read_in_the_subscribers_schema(old: Any, new: Any) -> None:
    topics = mf.Topics()
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(topics)
    server.start()
    try:
        with mf.Client(server.address) as client:
            publisher, subscriber = new.ItemsPublisher(topics), old.ItemsSubscriber(client)
            assert publisher.await_subscribers(1, PATIENCE)
            publisher.publish(new.Item("one", 1, 0.5))
            publisher.publish(new.Item("many", 70_000, 0.5))
            publisher.publish(new.Item("two", 2, 0.5))
            first, second, third = (subscriber.next(PATIENCE) for _ in range(3))
            assert (first.value, third.value) == (old.Item(1, "one"), old.Item(2, "two"))
            error = failure(lambda: second.value)
            assert error.code is Code.DECODE_ERROR
            words = "Items: value id: 70000 does not fit u16 of the subscriber's schema"
            assert error.message == f"message {second.sequence} of forms.Items: {server.address}: {words}"
    finally:
        topics.close()
        server.stop()


def test_calls_go_to_those_servers_whose_schema_allows_them(old: Any, new: Any) -> None:
    controller = Running()
    servants = servant_of(old), servant_of(new)
    servers = []
    try:
        for servant in servants:
            server = mf.Server(controller=controller.address, options=mf.ServerOptions(drain_timeout=1.0))
            server.offer(servant)
            server.start()
            servers.append(server)
        assert eventually(lambda: len(controller.servant.instances()) == 2)
        for schema, method in ((old, "gone"), (new, "come")):
            with mf.Client(controller.address) as client:
                stub = schema.FormsClient(client)
                for _ in range(20):
                    getattr(stub, method)()  # one of the two has it
                for servant in servants:
                    servant.came.clear()
                item = schema.Item(id=5, title="x")
                if schema is old:
                    for _ in range(100):
                        assert stub.echo(item) == item

                    def have_both(stub: Any = stub) -> bool:
                        assert stub.greet("me") == "me"
                        return all("me" in servant.came for servant in servants)

                    assert eventually(have_both)  # both are as good

        async def awaited() -> None:
            async with mf.AsyncClient(controller.address) as client:
                stub = old.FormsAsyncClient(client)
                assert [await stub.gone() for _ in range(10)] == [1] * 10
                assert await stub.echo(old.Item(3, "")) == old.Item(3, "")

        asyncio.run(awaited())
    finally:
        for server in servers:
            server.stop()
        controller.stop()
