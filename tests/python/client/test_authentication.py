"""The authentication field of HELLO: what a client shows is what a server gets."""

from collections.abc import Iterator
from typing import Any

import pytest

import mf
from mf.protocol.handshake import MAX_AUTH


def test_more_than_a_hello_takes_is_refused_where_it_is_given() -> None:
    with pytest.raises(ValueError, match="authentication field of 16385 bytes: at most 16384"):
        mf.Client("tcp://127.0.0.1:1", mf.ClientOptions(authentication=bytes(MAX_AUTH + 1)))


@pytest.fixture
def places() -> Iterator[Any]:
    with mf.Client("tcp://127.0.0.1:1", mf.ClientOptions(authentication=b"desk")) as client:
        yield client._pool


def test_each_connection_shows_it(places: Any) -> None:
    assert places._hello().auth == b"desk"
