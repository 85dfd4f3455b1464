"""A forked process is a different one for the controller: it finds servers by itself, and registers its own
offers.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running, controller

__all__ = ["controller"]

ROOT = Path(__file__).resolve().parents[3]

# Each child prints a line and exits; its parent prints whether it succeeded.
HEAD = """
import os, sys, threading
import mf
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

def in_child(function):
    child = os.fork()
    if child == 0:
        try:
            function()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

where = sys.argv[1]
"""


def said(done: "subprocess.CompletedProcess[str]") -> tuple[str, str]:
    """Its output, without the client's messages when a busy machine delays the controller's answers."""
    usual = ("trying on", "answers again", "registered")
    errors = [line for line in done.stderr.splitlines() if not any(words in line for words in usual)]
    return done.stdout, "\n".join(errors)


def run(program: str, controller: Running) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + program, controller.address],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ,
    )


def test_the_child_of_a_client_finds_servers_by_itself_and_its_parent_goes_on(controller: Running) -> None:
    done = run(
        """
server = mf.Server(controller=where, options=mf.ServerOptions(drain_timeout=1.0))
server.offer(Recorder(), agent="a")
server.start()
client = mf.Client(where)
echo = EchoClient(client).at("a")
assert echo.twice(1) == 2

def child():
    assert not any(each.name == "mf-watch" for each in threading.enumerate())
    assert echo.twice(2) == 4
    assert [each.name for each in threading.enumerate()].count("mf-watch") == 1
    client.close()

print(in_child(child), echo.twice(3), flush=True)
later = mf.Server(controller=where, options=mf.ServerOptions(drain_timeout=1.0))
later.offer(Recorder(), agent="b")
later.start()
print(EchoClient(client).at("b").twice(4))
later.stop()
client.close()
server.stop()
""",
        controller,
    )

    assert said(done) == ("0 6\n8\n", "")


def test_a_server_that_is_started_in_a_child_registers_as_itself(controller: Running) -> None:
    done = run(
        """
server = mf.Server(controller=where, options=mf.ServerOptions(drain_timeout=1.0))
server.offer(Recorder(), agent="a")

def child():
    server.start()
    with mf.Client(where) as client:
        assert EchoClient(client).at("a").twice(2) == 4
    server.stop()

print(in_child(child), in_child(child))
server.start()
print(in_child(child))
with mf.Client(where) as client:
    print(EchoClient(client).at("a").twice(3))
server.stop()
""",
        controller,
    )

    assert said(done) == ("0 0\n0\n6\n", "")
    owners = controller.servant.owners
    assert len({nonce for nonce, _, _ in owners}) == 4
    assert len({secret for _, secret, _ in owners}) == 4


def test_a_child_keeps_no_connection_of_its_parent_to_the_controller(controller: Running) -> None:
    done = run(
        """
import os, time
server = mf.Server(controller=where, options=mf.ServerOptions(drain_timeout=1.0))
server.offer(Recorder(), agent="a")
server.start()
client = mf.Client(where)
assert EchoClient(client).at("a").twice(1) == 2
ready, is_ready = os.pipe()
child = os.fork()
if child == 0:
    os.close(1)
    os.close(2)
    os.write(is_ready, b"!")
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
print(child, flush=True)
os._exit(0)  # without a good-bye
""",
        controller,
    )
    try:
        assert eventually(lambda: not controller.servant.instances())
    finally:
        os.kill(int(done.stdout), 9)
