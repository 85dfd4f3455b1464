"""How many connections a controller and a relay take at once is an option; one more is refused in words."""

import pytest

import mf
from mf.controller._generated.mf.controller import ControllerClient
from tests.interop.peers import Peers

SOON = mf.CallOptions(deadline=20.0)
LITTLE = mf.CallOptions(deadline=2.0)


@pytest.mark.parametrize("program", ["controller", "relay"])
def test_one_connection_more_than_it_may_have_is_refused(peers: Peers, program: str) -> None:
    few = ("--max-connections", "1")
    if program == "controller":
        address = peers.controller_at("tcp://127.0.0.1:0", *few).address
    else:
        address = peers.relay(peers.controller().address, *few).address
    where = "tcp://" + address.partition("://")[2]
    with mf.Client(where) as first, mf.Client(where) as second:
        assert ControllerClient(first).status(options=SOON).store.name == "memory"
        with pytest.raises(mf.Error, match="1 connections") as refused:
            ControllerClient(second).status(options=LITTLE)
        assert refused.value.execution == mf.Execution.NOT_EXECUTED
