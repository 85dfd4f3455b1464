"""A program that has code of two schemas of a service may call both by one client: each binds as what it is,
and adapts on its own.
"""

import asyncio
from itertools import permutations
from typing import Any

import pytest

import mf
from tests.evolution.serving import servant_of, served

ORDERS = list(permutations(("old", "mid", "new")))


@pytest.mark.parametrize("order", ORDERS)
def test_one_client_calls_by_several_schemas_of_a_service(order: tuple[str, ...], forms: Any) -> None:
    with served(servant_of(forms("old"))) as server, mf.Client(server.address) as client:
        stubs = [(forms(which), forms(which).FormsClient(client)) for which in order]
        for _ in range(2):
            for schema, stub in stubs:
                assert stub.echo(schema.Item(id=5, title="hello")) == schema.Item(id=5, title="hello")


@pytest.mark.parametrize("order", ORDERS)
def test_so_does_one_of_asyncio_at_the_same_time(order: tuple[str, ...], forms: Any) -> None:
    async def call_all(address: str) -> None:
        async with mf.AsyncClient(address) as client:
            schemas = [forms(which) for which in order] * 2
            items = [schema.Item(id=5, title="hello") for schema in schemas]
            calls = [
                schema.FormsAsyncClient(client).echo(item)
                for schema, item in zip(schemas, items, strict=True)
            ]
            assert await asyncio.gather(*calls) == items

    with served(servant_of(forms("old"))) as server:
        asyncio.run(call_all(server.address))
