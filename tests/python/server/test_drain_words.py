"""A drain that takes too long logs which calls it has cut."""

import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

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
        assert not server.stop()
        assert not server.stop()  # the second time, too
        client.close()
        for each in callers:
            each.join()
    servant.release.set()
    cut = [each.getMessage() for each in caplog.records if "calls_cut" in each.getMessage()]
    assert cut == ['calls_cut calls=3 methods="Echo.flaky 3"']
    assert len(failures) == 3


def test_a_drain_that_ends_in_time_logs_no_cut_calls(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mf")
    with mf.Server("tcp://127.0.0.1:0") as server:
        server.offer(Recorder(), "a")
        with mf.Client(server.address) as client:
            assert EchoClient(client).at("a").twice(1) == 2
        assert server.stop()
    assert not [each for each in caplog.records if "calls_cut" in each.getMessage()]


PROGRAM = """
import asyncio, os, sys, threading
import mf
from tests.python.conftest import AsyncRecorder, Recorder
from tests.python.echo import EchoClient

def call():
    with mf.Client(server.address) as client:
        try:
            EchoClient(client).at("a").sleep(seconds)
        except mf.Error:
            pass

class Plain(Recorder):
    def sleep(self, seconds):
        print("runs", flush=True)
        return super().sleep(seconds)

class Awaited(AsyncRecorder):
    async def sleep(self, seconds):
        print("runs", flush=True)
        return await super().sleep(seconds)

async def main():
    global server
    server = mf.AsyncServer("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=drain))
    server.offer(Awaited(), "a")
    await server.start()
    threading.Thread(target=call, daemon=True).start()
    return await server.serve()

seconds, drain = float(sys.argv[2]), float(sys.argv[3])
if sys.argv[1] == "awaited":
    whole = asyncio.run(main())
else:
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(drain_timeout=drain))
    server.offer(Plain(), "a")
    server.start()
    threading.Thread(target=call, daemon=True).start()
    whole = server.run()
sys.stdout.flush()
os._exit(0 if whole else mf.CALLS_CUT)  # the handler that was cut goes on
"""


@pytest.mark.parametrize("kind", ["plain", "awaited"])
@pytest.mark.parametrize(("seconds", "drain", "status"), [(20.0, 0.1, 3), (0.2, 20.0, 0)])
def test_a_program_may_end_with_a_status_that_tells_of_calls_that_were_cut(
    kind: str, seconds: float, drain: float, status: int
) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, str(seconds), str(drain)],
        cwd=Path(__file__).parents[3],
        env=os.environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "runs\n"
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == status
