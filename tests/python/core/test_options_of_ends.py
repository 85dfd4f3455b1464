"""The options of clients and servers, as an object and as keyword arguments."""

from dataclasses import fields

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
