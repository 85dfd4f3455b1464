"""The options of clients and servers, as an object and as keyword arguments."""

import asyncio
import inspect
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

import mf
from mf.core.client_options import ClientFields
from mf.core.server_options import ServerFields


@pytest.mark.parametrize(
    ("options", "named"), [(mf.ClientOptions, ClientFields), (mf.ServerOptions, ServerFields)]
)
def test_keyword_arguments_are_the_fields_of_the_object(options: type, named: type) -> None:
    assert {each.name: each.type for each in fields(options)} == named.__annotations__


def test_keyword_arguments_change_the_options_that_are_given() -> None:
    usual = mf.ServerOptions(workers=2, drain_timeout=1.0)
    server = mf.Server("tcp://127.0.0.1:0", options=usual, drain_timeout=3.0)

    assert (server._options.workers, server._options.drain_timeout) == (2, 3.0)
    assert usual.drain_timeout == 1.0


def test_a_wrong_name_and_a_wrong_value_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'worker'"):
        mf.Server(worker=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="workers is 0"):
        mf.Server(workers=0)
    with pytest.raises(TypeError, match="ClientOptions"):
        mf.Client("tcp://127.0.0.1:1", {"dead_after": 2.5})  # type: ignore[arg-type]


def test_offers_and_replicas_refuse_wrong_and_missing_names() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    with pytest.raises(TypeError, match="offer has no argument 'wait'"):
        server.offer(mf.Topics(), wait=2)  # type: ignore[call-arg]

    servant = mf.Servant()
    with pytest.raises(TypeError, match="a replica has no argument 'lone'"):
        mf.Replica(servant, "mf://127.0.0.1:1", member="a", members=["a"], lone=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="a replica needs the argument 'members'"):
        mf.Replica(servant, "mf://127.0.0.1:1", member="a")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (mf.CallOptions, {"deadline": timedelta(1)}, "deadline is a timedelta: give seconds, which its"),
        (mf.CallOptions, {"deadline": "2"}, "deadline is a str: give a number"),
        (mf.CallOptions, {"idle": None}, "idle is a NoneType: give a number"),
        (mf.BatchOptions, {"size": "2"}, "size is a str: give a number"),
        (mf.ClientOptions, {"dead_after": "2"}, "dead_after is a str: give a number"),
        (mf.ClientOptions, {"forward_metadata": "trace"}, r"give keys, as in \['trace'\]"),
        (mf.ServerOptions, {"workers": None}, "workers is a NoneType: give a number"),
        (mf.Limit, {"concurrent": "2"}, "concurrent is a str: give a number"),
        (mf.PublishOptions, {"deadline": "2"}, "deadline is a str: give a number"),
        (mf.SubscribeOptions, {"replay": "2"}, "replay is a str: give a number"),
        (mf.TopicsOptions, {"stall_timeout": "2"}, "stall_timeout is a str: give a number"),
        (mf.ReplicaSettings, {"repeat": "2"}, "repeat is a str: give a number"),
    ],
)
def test_an_option_that_is_no_number_is_named(kind: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        kind(**given)


def test_bounds_of_a_replica_are_above_0() -> None:
    for name in inspect.signature(mf.ReplicaSettings).parameters:
        with pytest.raises(ValueError, match=f"{name} is 0: give a number above 0"):
            mf.ReplicaSettings(**{name: 0})


@pytest.mark.parametrize("where", [None, 7400, b"tcp://127.0.0.1:1", mf.Server()])
def test_a_client_of_what_is_no_address_is_refused(where: Any) -> None:
    words = rf"where is a {type(where).__name__}: give the address of a server or a controller"
    with pytest.raises(TypeError, match=words):
        mf.Client(where)

    async def run() -> None:
        with pytest.raises(TypeError, match=words):
            mf.AsyncClient(where)

    asyncio.run(run())
