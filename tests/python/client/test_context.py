"""The context of a call: metadata in both directions, and what a handler's own calls inherit."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mf
from tests.python.conftest import Recorder, Served
from tests.python.echo import EchoAsyncClient, EchoClient, Number
from tests.python.flow import FlowClient, FlowServant

SENT = {"tenant": "acme", "traceparent": "00-1", "tracestate": "s", "authorization": "secret", "other": "o"}


class Front(Recorder):
    """Calls the server behind it, and records what the handlers of both receive."""

    behind: "EchoClient | Own"

    def twice(self, x: int) -> int:
        mf.current_call().set_reply_metadata("served-by", f"front {x}")
        return x * 2

    def flaky(self, x: int) -> int:
        return self.behind.flaky(x)


class Own:
    """Calls with their own metadata."""

    def __init__(self, behind: EchoClient) -> None:
        self._behind = behind

    def flaky(self, x: int) -> int:
        options = mf.CallOptions(metadata={"tenant": "mine", "authorization": "own"})
        return self._behind.flaky(x, options=options)


class Flows(FlowServant):
    def count(self, to: int) -> Iterator[int]:
        call = mf.current_call()
        self.seen.append(dict(call.metadata))
        call.set_reply_metadata("served-by", "flow")
        yield from range(to)
        call.set_reply_metadata("at-the-end", "yes")


class Chain:
    def __init__(self, forward: tuple[str, ...] = ()) -> None:
        self.seen: list[tuple[dict[str, str], float]] = []
        self.back = Served()
        self.back.servant.act = self._act
        self.inner = mf.Client(self.back.server.address, mf.ClientOptions(forward_metadata=forward))
        self.front = Front()
        self.front.behind = EchoClient(self.inner).at("b")
        self.server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=2.0))
        self.server.offer(self.front, agent="a")
        self.flows = Flows()
        self.server.offer(self.flows)
        self.server.start()
        self.client = mf.Client(self.server.address)
        self.echo = EchoClient(self.client).at("a")

    def _act(self, x: int) -> int:
        call = mf.current_call()
        self.seen.append((dict(call.metadata), call.deadline))
        return x

    def close(self) -> None:
        self.client.close()
        self.server.stop()
        self.inner.close()
        self.back.close()


@pytest.fixture
def chain() -> Iterator[Chain]:
    one = Chain(("tenant",))
    yield one
    one.close()


def options(**more: Any) -> mf.CallOptions:
    return mf.CallOptions(metadata=SENT, **more)


def test_traces_and_listed_keys_pass_on_and_tokens_never(chain: Chain) -> None:
    chain.echo.flaky(1, options=options())

    ((metadata, _),) = chain.seen
    assert metadata == {"tenant": "acme", "traceparent": "00-1", "tracestate": "s"}


def test_a_handlers_own_metadata_stand_above_what_passes_on(chain: Chain) -> None:
    assert isinstance(chain.front.behind, EchoClient)
    chain.front.behind = Own(chain.front.behind)
    chain.echo.flaky(1, options=options())

    ((metadata, _),) = chain.seen
    assert metadata == {
        "tenant": "mine",
        "traceparent": "00-1",
        "tracestate": "s",
        "authorization": "own",
    }


def test_a_nested_call_has_no_more_time_than_its_handler(chain: Chain) -> None:
    until = time.monotonic() + 5
    chain.echo.flaky(1, options=mf.CallOptions(deadline=5))

    ((_, deadline),) = chain.seen
    assert deadline < until + 0.5  # the nested call sets no deadline, and does not get 30 s


@pytest.mark.parametrize("listed", ["outer", "inner"])
def test_a_client_over_a_client_passes_on_the_keys_of_both(chain: Chain, listed: str) -> None:
    """Also over a Light, which is a source of targets like a client is."""
    keys = {"outer": (("other",), ()), "inner": ((), ("other",))}[listed]
    with (
        mf.Client(chain.back.server.address, mf.ClientOptions(forward_metadata=keys[1])) as inner,
        mf.Client(inner, mf.ClientOptions(forward_metadata=keys[0])) as outer,
    ):
        chain.front.behind = EchoClient(outer).at("b")
        chain.echo.flaky(1, options=options())

    ((metadata, _),) = chain.seen
    assert metadata == {"other": "o", "traceparent": "00-1", "tracestate": "s"}


def test_a_token_is_not_to_be_listed() -> None:
    with pytest.raises(ValueError, match="token"):
        mf.Client("tcp://127.0.0.1:1", mf.ClientOptions(forward_metadata=("authorization",)))
    with pytest.raises(mf.Error, match="a key of metadata has"):
        mf.Client("tcp://127.0.0.1:1", mf.ClientOptions(forward_metadata=("Tenant",)))


CALLS: dict[str, Callable[[Chain, mf.CallOptions], Any]] = {
    "call": lambda chain, options: chain.echo.twice(1, options=options),
    "awaited": lambda chain, options: asyncio.run(awaited(chain, options)),
    "bulk": lambda chain, options: chain.echo.twice_bulk([Number(1), Number(2)], options=options),
    "batch": lambda chain, options: batch(chain, options),
}


def batch(chain: Chain, options: mf.CallOptions) -> list[mf.Outcome[int]]:
    of_batch = mf.BatchOptions(metadata=options.metadata, reply_metadata=options.reply_metadata)
    return chain.echo.twice_batch([Number(1), Number(2)], options=of_batch).results()


async def awaited(chain: Chain, options: mf.CallOptions) -> int:
    async with mf.AsyncClient(chain.server.address) as client:
        return await EchoAsyncClient(client).at("a").twice(1, options=options)


@pytest.mark.parametrize("way", CALLS)
def test_metadata_of_the_reply_come_back(chain: Chain, way: str) -> None:
    got: dict[str, str] = {}
    CALLS[way](chain, options(reply_metadata=got))

    assert got.keys() == {"served-by"}


def test_metadata_that_may_not_go_are_refused_before_anything_is_sent(chain: Chain) -> None:
    for bad, code in (
        ({"Key": "v"}, mf.Code.INVALID_ARGUMENT),
        ({"k": "v" * 20_000}, mf.Code.MESSAGE_TOO_LARGE),
        ({f"k{number}": "" for number in range(65)}, mf.Code.MESSAGE_TOO_LARGE),
    ):
        with pytest.raises(mf.Error) as refused:
            chain.echo.flaky(1, options=mf.CallOptions(metadata=bad))
        assert (refused.value.code, refused.value.execution) == (code, mf.Execution.NOT_EXECUTED)
    assert chain.seen == []


def test_streams_have_metadata_too(chain: Chain) -> None:
    flow = FlowClient(chain.client)
    got: dict[str, str] = {}
    reader = flow.count(100, options=options(reply_metadata=got))
    first = next(reader)
    with_first = dict(got)
    rest = list(reader)

    assert [first, *rest] == list(range(100))
    assert chain.flows.seen == [SENT]
    assert with_first["served-by"] == "flow"
    assert got == {"served-by": "flow", "at-the-end": "yes"}
