"""The error texts of calls while no controller answers."""

import asyncio

import pytest

import mf
from tests.python.client.test_calls import free_port
from tests.python.echo import EchoAsyncClient, EchoClient


@pytest.mark.parametrize("deadline", [0.01, 0.2, 0.5])
def test_a_call_says_from_the_first_moment_that_the_controller_does_not_answer(deadline: float) -> None:
    where = f"mf://127.0.0.1:{free_port()}"
    options = mf.CallOptions(deadline=deadline)

    async def awaited() -> None:
        async with mf.AsyncClient(where) as client:
            await EchoAsyncClient(client).at("a").twice(1, options=options)

    with mf.Client(where) as client, pytest.raises(mf.Error) as blocking:
        EchoClient(client).at("a").twice(1, options=options)
    with pytest.raises(mf.Error) as awaiting:
        asyncio.run(awaited())
    for raised in (blocking, awaiting):
        assert raised.value.code is mf.Code.UNAVAILABLE
        assert f"the controller at {where} has not answered yet" in raised.value.message
