"""The upper half of request ids: the client's number, assigned by its controller, or random."""

import asyncio
from collections.abc import Iterator

import pytest

import mf
from mf.route.blocking_pool import BlockingPool
from tests.python.client.test_wrap import Near
from tests.python.controller.test_controller import Running, controller
from tests.python.echo import EchoAsyncClient, EchoClient
from tests.python.flow import FlowClient

__all__ = ["controller"]


@pytest.fixture
def near(controller: Running) -> Iterator[Near]:
    one = Near(1, controller.address, controller.address)
    yield one
    one.server.stop()


def numbers(near: Near) -> list[int]:
    return [id_ >> 32 for id_ in near.servant.ids]


def test_each_client_has_the_number_that_its_controller_gave_it(controller: Running, near: Near) -> None:
    controller.servant.ids = 300  # more than eight bits
    for _ in range(2):
        with mf.Client(near.url) as client:
            for x in range(2):
                EchoClient(client).at("a").flaky(x)
    assert numbers(near) == [301, 301, 302, 302]


def test_the_largest_number_is_one_like_any_other(controller: Running, near: Near) -> None:
    controller.servant.ids = 0xFFFFFFFE

    async def call() -> None:
        async with mf.AsyncClient(near.url) as client:
            await EchoAsyncClient(client).at("a").flaky(1)

    asyncio.run(call())
    assert numbers(near) == [0xFFFFFFFF]


def test_a_client_keeps_its_number_when_its_controller_was_away(controller: Running, near: Near) -> None:
    with mf.Client(near.url) as client:
        EchoClient(client).at("a").flaky(1)
        controller.stop()
        controller.start()
        controller.servant.ids = 700
        assert list(FlowClient(client).count(2)) == [1, 2]  # which it could only find now
        assert client._resolver is not None
        assert [client._resolver.client_id()] == numbers(near)


def test_a_client_without_a_controller_draws_one_number_for_all_its_connections() -> None:
    near, other = Near(1), Near(1)
    with mf.Client(f"{near.url},{other.url}") as client:
        echo = EchoClient(client).at("a")
        while not (near.servant.ids and other.servant.ids):
            echo.flaky(1)
    drawn = {*numbers(near), *numbers(other)}
    assert len(drawn) == 1
    assert drawn.pop() != 0
    for each in near, other:
        each.server.stop()


def test_a_child_process_draws_another_number() -> None:
    pool = BlockingPool()
    parent = pool._hello()
    pool.after_fork()
    assert pool._hello().client_id not in (parent.client_id, 0)
    assert pool._hello().nonce != parent.nonce
