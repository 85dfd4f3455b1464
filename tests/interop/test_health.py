"""The health service of programs of C++, asked by clients of Python."""

import mf
from mf.health import HealthClient, Report, State
from tests.interop.peers import Peers

SERVING = Report(State.serving, [])


def test_a_controller_of_cpp_says_how_it_is(peers: Peers) -> None:
    address = "tcp://" + peers.controller().address.partition("://")[2]
    with mf.Client(address) as client:
        health = HealthClient(client)

        assert health.check("") == SERVING
        assert health.check("mf.controller.Controller") == SERVING
        assert health.check("demo.Unknown") == Report(State.unknown_service, [])
        with health.watch("", options=mf.CallOptions(deadline=mf.INFINITE)) as watch:
            assert next(watch) == SERVING
