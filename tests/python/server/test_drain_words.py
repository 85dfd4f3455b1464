"""A drain that takes too long says which calls it has cut."""

import logging
import threading

import pytest

import mf
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient


def test_a_drain_that_times_out_logs_the_calls_that_it_cuts(caplog: pytest.LogCaptureFixture) -> None:
    servant = Recorder()
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(workers=3, drain_timeout=0.1))
    server.offer(servant, "a")
    server.start()
    servant.act = lambda x: x if servant.release.wait(30) else -x
    failures: list[mf.Error] = []

    def call(echo: EchoClient) -> None:
        try:
            echo.flaky(1, options=mf.CallOptions(deadline=20))
        except mf.Error as failure:
            failures.append(failure)

    with mf.Client(server.address) as client:
        callers = [threading.Thread(target=call, args=(EchoClient(client).at("a"),)) for _ in range(3)]
        for each in callers:
            each.start()
        assert eventually(lambda: servant.calls == 3)
        server.stop()
        client.close()
        for each in callers:
            each.join()
    servant.release.set()
    cut = [each.getMessage() for each in caplog.records if "calls_cut" in each.getMessage()]
    assert cut == ['calls_cut calls=3 methods="Echo.flaky 3"']
    assert len(failures) == 3


def test_a_drain_in_time_logs_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")
    with mf.Server("tcp://127.0.0.1:0") as server:
        server.offer(Recorder(), "a")
        with mf.Client(server.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2
    assert not [each for each in caplog.records if "calls_cut" in each.getMessage()]
