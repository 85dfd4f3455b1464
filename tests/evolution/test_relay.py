"""Clients of one schema call servers of another through a relay, which knows nothing of schemas."""

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

PATIENCE = 20.0


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

    def add(self, schema: Any) -> None:
        servant = servant_of(schema)
        server = mf.Server(controller=self.controller, drain_timeout=10.0)
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
            assert raised.value.message == f"Forms.apart: parameter x: {here} here, {there} there"
    finally:
        relayed.close()


def test_a_relay_with_servers_of_both_schemas_serves_clients_of_both(
    peers: Peers, old: Any, new: Any
) -> None:
    relayed = Relayed(peers, old, new)
    try:
        for ours, only in ((old, "gone"), (new, "come")):
            with mf.Client(relayed.where) as client:
                stub = ours.FormsClient(client)
                for n in range(50):
                    item = ours.Item(id=n, title="x")
                    assert stub.echo(item) == item
                    getattr(stub, only)()
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


def test_a_topic_of_another_schema_is_read_through_a_relay(peers: Peers, old: Any, new: Any) -> None:
    relayed = Relayed(peers)
    topics = mf.Topics()
    server = mf.Server(controller=relayed.controller)
    server.offer(topics)
    publisher = new.ItemsPublisher(topics)
    server.start()
    try:
        with mf.Client(relayed.where) as client:
            subscriber = old.ItemsSubscriber(client)
            assert publisher.await_subscribers(1, PATIENCE)
            for n in range(20):
                publisher.publish(new.Item(str(n), n, 0.5))
            assert [subscriber.next(PATIENCE).value for _ in range(20)] == [
                old.Item(n, str(n)) for n in range(20)
            ]
    finally:
        topics.close()
        server.stop()
