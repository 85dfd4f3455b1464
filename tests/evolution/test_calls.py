"""Clients of one schema call servers of another, over sockets: all cases and values of
tests/vectors/evolution.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from tests.evolution.conftest import Sides
from tests.evolution.pairs import NAMES, Side, cases, sides

Call = Callable[[str, tuple[Any, ...]], Any]
DIRECTIONS = ("old_to_new", "new_to_old")


class Provider:
    """A server of one schema: keeps the requests that come, as bytes of its schema, and answers with
    `result`."""

    def __init__(self, side: Side) -> None:
        self.requests: list[bytes] = []
        self.result: Any = None
        methods = side.methods

        def handler(name: str) -> Callable[..., Any]:
            method = methods[name]

            def handle(_: Any, *arguments: Any) -> Any:
                self.requests.append(bytes(method.encode_request(*arguments)))
                return self.result

            return handle

        members = {method.attribute: handler(name) for name, method in methods.items()}
        servant = type("Answering", (side.servant,), members)
        self.server = mf.Server("tcp://127.0.0.1:0")
        self.server.offer(servant())

    @property
    def address(self) -> str:
        return self.server.address

    def __enter__(self) -> "Provider":
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()


def blocking(side: Side, address: str, run: Callable[[Call], None]) -> None:
    with mf.Client(address) as client:
        stub = side.client(client)

        def call(name: str, arguments: tuple[Any, ...]) -> Any:
            method = side.methods[name]
            streams: list[list[Any]] = [[]] if method.param_element is not None else []
            made = getattr(stub, method.attribute)(*arguments, *streams)
            return made if method.result_element is None else list(made)

        run(call)


def awaited(side: Side, address: str, run: Callable[[Call], None]) -> None:
    with asyncio.Runner() as runner:

        async def connect() -> mf.AsyncClient:
            return mf.AsyncClient(address)

        client = runner.run(connect())
        stub = side.async_client(client)

        async def call(name: str, arguments: tuple[Any, ...]) -> Any:
            method = side.methods[name]
            streams: list[list[Any]] = [[]] if method.param_element is not None else []
            made: Any = getattr(stub, method.attribute)(*arguments, *streams)
            return await made if method.result_element is None else [each async for each in made]

        try:
            run(lambda name, arguments: runner.run(call(name, arguments)))
        finally:
            runner.run(client.close())


WAYS = pytest.mark.parametrize("way", [blocking, awaited])


@WAYS
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
def test_values_arrive_in_the_other_schema_or_are_refused_alone(
    side: Sides, pair: str, direction: str, way: Callable[..., None]
) -> None:
    consumer, provider = (side(pair, each) for each in sides(direction))
    values = [each for each in cases(pair)["values"] if each["direction"] == direction]

    def run(call: Call) -> None:
        for value in values:
            if "request" in value:
                requested(call, value["method"], value["request"])
            else:
                answered(call, value["method"], value["result"])

    def requested(call: Call, name: str, value: dict[str, str]) -> None:
        arguments = consumer.methods[name].decode_request(bytes.fromhex(value["own"]))
        serving.requests.clear()
        if "fault" in value:
            error = failure(call, name, arguments)
            assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED), name
            assert (error.message, serving.requests) == (f"{serving.address}: {value['fault']}", [])
        else:
            serving.result = None
            call(name, arguments)
            assert [each.hex() for each in serving.requests] == [value["theirs"]], name

    def answered(call: Call, name: str, value: dict[str, str]) -> None:
        serving.result = provider.methods[name].decode_result(bytes.fromhex(value["theirs"]))
        if "fault" in value:
            error = failure(call, name, ())
            assert (error.code, error.execution) == (Code.DECODE_ERROR, Execution.UNKNOWN), name
            assert error.message == f"{serving.address}: {value['fault']}"
        else:
            got = call(name, ())
            assert bytes(consumer.methods[name].encode_result(got)).hex() == value["own"], name

    assert values
    with Provider(provider) as serving:
        way(consumer, serving.address, run)


def failure(call: Call, name: str, arguments: tuple[Any, ...]) -> mf.Error:
    with pytest.raises(mf.Error) as raised:
        call(name, arguments)
    return raised.value


@WAYS
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", NAMES)
def test_methods_that_cannot_be_called_are_refused_one_by_one_in_words(
    side: Sides, pair: str, direction: str, way: Callable[..., None]
) -> None:
    consumer, provider = (side(pair, each) for each in sides(direction))
    refused = [each for each in cases(pair)["cases"] if each[direction] in ("refused", "unknown_method")]

    def run(call: Call) -> None:
        for case in refused:
            error = failure(call, case["method"], arguments_of(consumer, case["method"]))
            unknown = case[direction] == "unknown_method"
            code = Code.UNKNOWN_METHOD if unknown else Code.SCHEMA_MISMATCH
            assert (error.code, error.execution) == (code, Execution.NOT_EXECUTED), case
            assert error.message == f"{serving.address}: {case[f'reason_{direction}']}"

    assert refused or pair not in NAMES[:2]
    with Provider(provider) as serving:
        way(consumer, serving.address, run)
        assert serving.requests == []


ARCHIVES = (b"\2\x08\0", b"\2\x0a\0", b"\4\x0a\2\x08\0")
"""Of one field, a number or a text; and a graph of one such object."""


def arguments_of(side: Side, name: str) -> tuple[Any, ...]:
    """Some that its schema takes, whatever they say."""
    method = side.methods[name]
    for size in range(64):
        for data in (bytes(size), b"\1" + bytes(size), *ARCHIVES):
            try:
                return method.decode_request(data)
            except mf.Error:
                continue
    raise AssertionError(f"no zeros are a request of {name}")
