"""Clients of one schema call servers of another through a relay, which knows nothing of schemas."""

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

    def __init__(self, peers: Peers, *schemas: Any) -> None:
        self.controller = peers.controller().address.replace("tcp://", "mf://")
        relay = peers.relay(self.controller).address.replace("tcp://", "relay://")
        self.where = relay
        self.servants = [servant_of(schema) for schema in schemas]
        self.servers = []
        for servant in self.servants:
            server = mf.Server(controller=self.controller)
            server.offer(servant)
            server.start()
            self.servers.append(server)

    def close(self) -> None:
        for server in self.servers:
            server.stop()


@pytest.mark.parametrize("is_newer", [False, True])
def test_calls_through_a_relay_are_adapted_by_the_client(
    peers: Peers, old: Any, new: Any, is_newer: bool
) -> None:
    ours, theirs = (new, old) if is_newer else (old, new)
    relayed = Relayed(peers, theirs)
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
