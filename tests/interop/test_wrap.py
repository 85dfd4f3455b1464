"""Request ids that wrap (tests/python/client/test_wrap.py), of a client in Python behind a relay."""

from collections.abc import Iterator

import pytest

from tests.interop.peers import Peers
from tests.python.client.test_wrap import Near, first, pass_it_blocking, stream_past_it

__all__ = ["first"]


@pytest.fixture
def relayed(peers: Peers, first: int) -> Iterator[Near]:
    controller = peers.controller()
    one = Near(
        first, peers.relay(controller.address).address.replace("tcp://", "relay://"), controller.address
    )
    yield one
    one.servant.release.set()
    one.server.stop()


def test_calls_and_batches_in_flight_across_it_end_each_with_its_own_result(relayed: Near) -> None:
    pass_it_blocking(relayed)


def test_streams_go_on_while_calls_pass_it(relayed: Near) -> None:
    stream_past_it(relayed)
