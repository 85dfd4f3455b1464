"""Clients of one schema call servers of another through a relay, which reads no schemas."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.evolution.serving import servant_of
from tests.interop.peers import Peers
from tests.python.conftest import eventually

PATIENCE = 60.0


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Peers]:
    started = Peers(tmp_path, tmp_path)
    yield started
    started.close()


class Relayed:
    """Servers behind a controller, and a relay in front of them."""

    def __init__(self, peers: Peers, *schemas: Any, relays: int = 1) -> None:
        self.controller = self.where = peers.controller().address.replace("tcp://", "mf://")
        for _ in range(relays):  # in a row
            self.where = peers.relay(self.where).address.replace("tcp://", "relay://")
        self.servants: list[Any] = []
        self.servers: list[mf.Server] = []
        for schema in schemas:
            self.add(schema)

    def await_known(self, schema: Any) -> None:
        """Until clients find servers of both schemas; `schema` can call what only one of them has."""
        with mf.Client(self.where) as client:
            stub = schema.FormsClient(client)

            def have_both() -> bool:
                try:
                    return bool(stub.gone() and stub.come())
                except mf.Error:  # one of them is not known yet
                    return False

            assert eventually(have_both)

    def add(self, schema: Any) -> None:
        servant = servant_of(schema)
        server = mf.Server(controller=self.controller, options=mf.ServerOptions(drain_timeout=10.0))
        server.offer(servant)
        server.start()
        self.servants.append(servant)
        self.servers.append(server)

    def replace(self, schema: Any) -> None:
        """The latest server, by one that is known before it ends."""
        before = self.servers.pop()
        self.add(schema)
        servant = self.servants[-1]
        with mf.Client(self.controller) as client:
            stub = schema.FormsClient(client)

            def is_known() -> bool:
                stub.note(schema.Item(id=1, title="known"))
                return bool(servant.came)

            assert eventually(is_known)
        before.stop()

    def close(self) -> None:
        for server in self.servers:
            server.stop()


@pytest.mark.parametrize(("is_newer", "relays"), [(False, 1), (True, 1), (False, 3), (True, 3)])
def test_calls_through_relays_are_adapted_by_the_client(
    peers: Peers, old: Any, new: Any, is_newer: bool, relays: int
) -> None:
    ours, theirs = (new, old) if is_newer else (old, new)
    relayed = Relayed(peers, theirs, relays=relays)
    try:
        with mf.Client(relayed.where) as client:
            stub = ours.FormsClient(client)
            item = ours.Item(id=7, title="seven")
            assert stub.echo(item) == item
            assert [each.id for each in stub.squares(3)] == [0, 1, 4]
            assert stub.sum([1, 2, 3]) == 6
            outcomes = stub.echo_batch([ours.FormsEchoRequest(item)] * 300).results()
            assert [outcome.value() for outcome in outcomes] == [item] * 300
            stub.note(item)
            assert eventually(lambda: len(relayed.servants[0].came) == 302)
            with pytest.raises(mf.Error) as raised:
                (stub.come if is_newer else stub.gone)()
            assert raised.value.code is Code.UNKNOWN_METHOD
            with pytest.raises(mf.Error) as raised:
                stub.apart("x" if is_newer else 1)
            here, there = ("string", "u32") if is_newer else ("u32", "string")
            relay = relayed.where.replace("relay://", "tcp://")
            assert raised.value.message == f"{relay}: Forms.apart: parameter x: {here} here, {there} there"
    finally:
        relayed.close()


def test_a_relay_with_servers_of_both_schemas_serves_clients_of_both(
    peers: Peers, old: Any, mid: Any, new: Any
) -> None:
    relayed = Relayed(peers, old, new)
    try:
        relayed.await_known(mid)
        for ours, only in ((old, "gone"), (new, "come")):
            with mf.Client(relayed.where) as client:
                stub = ours.FormsClient(client)
                for n in range(50):
                    item = ours.Item(id=n, title="x")
                    assert stub.echo(item) == item
                    getattr(stub, only)()
    finally:
        relayed.close()


@pytest.mark.parametrize("relays", [1, 2])
def test_each_method_is_called_at_servers_whose_schema_allows_it(
    peers: Peers, old: Any, mid: Any, new: Any, relays: int
) -> None:
    relayed = Relayed(peers, old, new, relays=relays)
    try:
        relayed.await_known(mid)
        with mf.Client(relayed.where) as client:
            stub = mid.FormsClient(client)
            for _ in range(20):
                assert (stub.gone(), stub.come(), stub.apart(7)) == (1, 2, 1)
            item = mid.Item(id=7, title="seven")

            def have_both() -> bool:
                assert stub.greet("me") == "me"
                return all("me" in servant.came for servant in relayed.servants)

            assert eventually(have_both)
            outcomes = stub.echo_batch([mid.FormsEchoRequest(item)] * 300).results()
            assert [outcome.value() for outcome in outcomes] == [item] * 300
            assert [each.id for each in stub.squares(3)] == [0, 1, 4]
            assert stub.sum([1, 2, 3]) == 6
    finally:
        relayed.close()


@pytest.mark.parametrize("relays", [1, 2])
def test_each_method_of_an_asyncio_client_is_called_at_servers_whose_schema_allows_it(
    peers: Peers, old: Any, mid: Any, new: Any, relays: int
) -> None:
    relayed = Relayed(peers, old, new, relays=relays)
    relayed.await_known(mid)

    async def call() -> None:
        async with mf.AsyncClient(relayed.where) as client:
            stub = mid.FormsAsyncClient(client)
            for _ in range(20):
                got = await asyncio.gather(stub.gone(), stub.come(), stub.apart(7))
                assert list(got) == [1, 2, 1]

    try:
        asyncio.run(asyncio.wait_for(call(), 3 * PATIENCE))
    finally:
        relayed.close()


@pytest.mark.parametrize("relays", [0, 1])
def test_calls_go_to_servers_whose_schema_takes_all_of_their_values(
    peers: Peers, old: Any, mid: Any, new: Any, relays: int
) -> None:
    relayed = Relayed(peers, old, new, relays=relays)
    try:
        relayed.await_known(mid)
        with mf.Client(relayed.where) as client:
            stub = mid.FormsClient(client)
            for n in range(20):
                item = mid.Item(id=70_000 + n, title="more than the older schema has")
                assert stub.echo(item) == item
    finally:
        relayed.close()


def test_calls_behind_a_one_way_call_go_where_that_went(peers: Peers, old: Any, mid: Any, new: Any) -> None:
    relayed = Relayed(peers, old, new)
    try:
        relayed.await_known(mid)
        with mf.Client(relayed.where) as client:
            stub = mid.FormsClient(client)
            for n in range(50):
                stub.note(mid.Item(id=n, title="note"))
                stub.greet(str(n))
            came = [[getattr(each, "id", each) for each in servant.came] for servant in relayed.servants]
            assert sorted(came, key=len) == [[], [each for n in range(50) for each in (n, str(n))]]
    finally:
        relayed.close()


@pytest.mark.parametrize(("stream", "relays"), [(False, 1), (True, 1), (False, 2)])
def test_no_call_fails_when_the_last_server_of_the_clients_schema_gives_way_to_one_of_another(
    peers: Peers, old: Any, new: Any, stream: bool, relays: int
) -> None:
    relayed = Relayed(peers, old, relays=relays)
    ours = old
    done: list[int] = []
    trouble: list[BaseException] = []
    stops = threading.Event()

    def call() -> None:
        try:
            with mf.Client(relayed.where) as client:
                stub = ours.FormsClient(client)
                while not stops.is_set():
                    if stream:
                        assert [each.id for each in stub.squares(3)] == [0, 1, 4]
                    item = ours.Item(id=len(done), title="x")
                    assert stub.echo(item) == item
                    done.append(item.id)
        except BaseException as error:
            trouble.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    try:
        assert eventually(lambda: len(done) > 10 or bool(trouble))
        for schema in (new, old, new):
            relayed.replace(schema)
            wanted = len(done) + 10

            def goes_on(wanted: int = wanted) -> bool:
                return len(done) > wanted or bool(trouble)

            assert eventually(goes_on)
        assert not trouble
    finally:
        stops.set()
        caller.join(PATIENCE)
        relayed.close()
    assert not trouble


class Publishing:
    """A process that publishes the items of one schema."""

    def __init__(self, controller: str, schema: Any) -> None:
        self._schema = schema
        self._topics = mf.Topics()
        self._server = mf.Server(controller=controller)
        self._server.offer(self._topics)
        self._publisher = schema.ItemsPublisher(self._topics)
        self._server.start()

    def publish(self, *ids: int) -> None:
        """Once there is a subscriber."""
        assert self._publisher.await_subscribers(1, PATIENCE)
        for n in ids:
            self._publisher.publish(self._schema.Item(id=n, title=str(n)))

    def close(self) -> None:
        self._topics.close()
        self._server.stop()


@pytest.mark.parametrize("relays", [1, 3])
def test_a_topic_of_another_schema_is_read_through_relays(
    peers: Peers, old: Any, new: Any, relays: int
) -> None:
    relayed = Relayed(peers, relays=relays)
    there = Publishing(relayed.controller, new)
    try:
        with mf.Client(relayed.where) as client:
            subscriber = old.ItemsSubscriber(client)
            there.publish(*range(20))
            assert [subscriber.next(PATIENCE).value for _ in range(20)] == [
                old.Item(n, str(n)) for n in range(20)
            ]
    finally:
        there.close()


@pytest.mark.parametrize("relays", [1, 2])
def test_publishers_of_several_schemas_are_read_by_one_subscriber_each_message_once(
    peers: Peers, old: Any, mid: Any, new: Any, relays: int
) -> None:
    relayed = Relayed(peers, relays=relays)
    there = [Publishing(relayed.controller, schema) for schema in (old, mid, new)]
    try:
        with mf.Client(relayed.where) as client:
            subscribers = [schema.ItemsSubscriber(client) for schema in (mid, old)]
            for subscriber in subscribers:
                assert subscriber.await_publishers(3, PATIENCE)
            for at, publishing in enumerate(there):
                publishing.publish(*range(10 * at, 10 * at + 10))
            for subscriber in subscribers:
                ids = [subscriber.next(PATIENCE).value.id for _ in range(30)]
                assert sorted(ids) == list(range(30))
                assert subscriber.stats().duplicates == 0
    finally:
        for publishing in there:
            publishing.close()
