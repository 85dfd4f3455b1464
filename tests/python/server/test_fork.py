"""A process that is forked from a server: it serves nothing, and handles signals like any other process."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# Forks while its main thread is in run(); prints the state of the child, and of a later call, and ends by
# SIGTERM.
PROGRAM = """
import os, signal, socket, sys, threading, time
import mf
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient

server = mf.Server(listen="tcp://127.0.0.1:0,unix:" + sys.argv[1])
server.offer(Recorder(), agent="a")
server.start()

def fork():
    with mf.Client(server.address) as client:
        echo = EchoClient(client).at("a")
        assert echo.twice(1) == 2
        child = os.fork()
        if child == 0:
            open(sys.argv[1] + ".ready", "w").close()
            time.sleep(60)
            os._exit(3)
        while not os.path.exists(sys.argv[1] + ".ready"):
            time.sleep(0.01)
        print("served", echo.twice(2), flush=True)
        os.kill(child, signal.SIGTERM)
        print("child ended by", -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        print("served", echo.twice(3), os.path.exists(sys.argv[1]), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=fork).start()
server.run()
print("stopped", flush=True)
"""


def test_a_forked_child_ends_by_its_own_signal_and_its_parent_serves_on(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "s")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.splitlines() == [
        "served 4",
        "child ended by 15",
        "served 6 True",
        "stopped",
    ], done.stderr


def test_a_child_does_not_hold_the_port_of_its_parent(tmp_path: Path) -> None:
    program = """
import os, sys, time
import mf
server = mf.Server()
server.start()
ready, is_ready = os.pipe()
child = os.fork()
if child == 0:
    os.write(is_ready, b"!")
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
try:
    server.stop()
    again = mf.Server(listen=server.address)
    again.start()
    print("listens again")
    again.stop()
finally:
    os.kill(child, 9)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stdout == "listens again\n", done.stderr


def test_servers_that_have_ended_are_left_alone_in_a_child() -> None:
    program = """
import os
import mf
ended = mf.Server()
ended.start()
ended.stop()
files = [os.open(os.devnull, os.O_RDONLY) for _ in range(16)]  # they get the numbers that are free again
child = os.fork()
if child == 0:
    for file in files:
        os.fstat(file)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.stdout, done.stderr) == ("7\n", "")


def test_a_child_draws_other_numbers() -> None:
    program = """
import os
from mf.core.backoff import JITTER
JITTER.seed(1)
before = JITTER.getstate()
child = os.fork()
if child == 0:
    os._exit(7 if JITTER.getstate() != before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert JITTER.getstate() == before
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.stdout, done.stderr) == ("7\n", "")
