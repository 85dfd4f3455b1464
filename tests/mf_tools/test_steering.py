"""`mf drain`, `mf log-level` and `mf tap`, at servers in Python and in C++."""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

import mf
from mf.admin import AdminClient, Level
from mf.admin._generated.mf.admin import ADMIN_SERVICE
from mf.controller import Key, KeyKind, Offer
from tests.interop.peers import BUILD, PATIENCE, Server
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.test_dash_page import Registrations
from tests.python.conftest import eventually

NAME = "shop_server.py"


@pytest.fixture
def fresh(peers: Peers) -> Iterator[tuple[Server, Server]]:
    """A controller and a shop that a test may end."""
    controller = peers.controller()
    started = peers.shop(controller=controller.address)
    with mf.Client(controller.address, wait_for_server=PATIENCE) as client:
        client.describe("shop.Clock", deadline=PATIENCE)
        client.describe("shop.Shop", agent="maps", deadline=PATIENCE)
    yield controller, started
    started.close()
    controller.close()


class Tap:
    """A running `mf tap`, whose lines a thread reads."""

    def __init__(self, tool: Tool, *arguments: str) -> None:
        self._tool = tool
        self._process = tool.process("tap", *arguments)
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line.decode())

    def begun(self, *call: str) -> None:
        """Repeats the call until it is shown: when a tap begins is not seen from outside."""
        assert eventually(lambda: bool(self._tool.well(*call)) and bool(self._lines))

    @property
    def seen(self) -> list[str]:
        return list(self._lines)

    def end(self) -> tuple[int, list[str], str]:
        """As by Ctrl-C: its exit code, its lines and its notes."""
        self._process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> tuple[int, list[str], str]:
        assert self._process.stderr is not None
        with self._process:  # closes its pipes
            notes = self._process.stderr.read().decode()
            code = self._process.wait(30)
            self._thread.join()
        return code, self._lines, notes


def test_the_level_of_a_log_is_shown_and_set(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, server = fresh
    tool.at(controller.address)
    [entry] = {each["instance"] for each in tool.json("ls", "shop.Clock")}
    assert tool.well("log-level", NAME) == f"{server.address} warning\n"
    assert tool.well("log-level", server.address, "DEBUG") == f"{server.address} debug\n"
    assert tool.json("log-level", entry[:6]) == {"address": server.address, "level": "debug"}


def test_what_is_not_there_is_not_steered(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, _ = fresh
    tool.at(controller.address)
    said = "no process or instance 'nothing' is registered; `mf ls --long` shows what is"
    for command in ("drain", "log-level", "tap"):
        assert tool.fails(2, command, "nothing") == said
    assert "behind a relay" in tool.fails(2, "drain", NAME, "--where", "relay://127.0.0.1:1")
    tool.fails(4, "drain", "tcp://127.0.0.1:1", "--deadline", "0.2")


def test_a_controller_and_a_relay_are_steered_like_servers(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()
    relay = peers.relay(controller.address)
    other = peers.relay(controller.address)
    for process in (other, relay, controller):
        if process is relay:
            tool.at(controller.address)  # before, no place is said
        address = "tcp://" + process.address.partition("://")[2]
        assert tool.well("log-level", address) == f"{address} warning\n"
        assert tool.well("log-level", address, "error") == f"{address} error\n"
        assert tool.well("drain", address) == f"{address} drains\n"
        assert process.wait() == 0


def test_a_drained_server_leaves_the_controller_and_is_not_called_any_more(
    tool: Tool, fresh: tuple[Server, Server]
) -> None:
    controller, server = fresh
    tool.at(controller.address)
    assert tool.well("drain", NAME) == f"{server.address} drains\n"
    assert tool.json("ls") == []
    tool.fails(4, "call", "shop.Clock.now", "--where", server.address, "--deadline", "0.5")


def test_only_an_identity_that_may_administer_is_let_in(tool: Tool, peers: Peers, tmp_path: Path) -> None:
    access = tmp_path / "access.conf"
    own = f"uid:{os.geteuid()}"
    access.write_text(f"allow {own} call *\n")
    server = peers.shop(f"unix:{tmp_path}/s", access=str(access))
    for command in (("drain",), ("log-level",), ("tap", "--for", "5")):
        said = tool.fails(5, command[0], server.address, *command[1:])
        assert f"{own} may not call this method of mf.admin.Admin" in said
    assert tool.well("call", "shop.Clock.now", "--where", server.address)
    access.write_text(f"allow {own} administer\n")
    server.tell("reload")
    assert server.line() == "done"
    assert tool.well("log-level", server.address) == f"{server.address} warning\n"


def test_calls_are_shown_with_values_as_json(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, server = fresh
    tool.at(controller.address)
    tap = Tap(tool, NAME, "--json", "--service", "shop.Sh*")
    tap.begun("call", "shop.Shop.find", '{"word": "charts"}', "--at", "maps")
    tool.run("call", "shop.Shop.item", '{"title": "?"}')
    tool.well("call", "shop.Clock.now")
    tool.well("call", "shop.Shop.count", '{"to": 2}')
    assert eventually(lambda: any('"count"' in line for line in tap.seen))
    code, lines, _ = tap.end()
    assert code == 130
    shown = [json.loads(line) for line in lines]
    first = shown[0]
    named = [first[each] for each in ("server", "service", "method", "agent", "code")]
    assert named == [server.address, "shop.Shop", "find", "maps", "OK"]
    assert first["request"] == {"word": "charts", "most": 10}
    assert [each["title"] for each in first["result"]] == ["Sea charts"]
    declared, stream = (each for each in shown if each["method"] != "find")
    assert (declared["method"], declared["code"], declared["request"]) == ("item", "DECLARED", {"title": "?"})
    assert declared["error"].startswith("NotFound")
    assert (stream["method"], stream["stream"], stream["request"]) == ("count", True, {"to": 2})
    assert "result" not in stream


def test_a_tap_ends_after_a_count_and_with_its_server(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, server = fresh
    tool.at(controller.address)
    counted = Tap(tool, server.address, "--method", "now", "--count", "1", "--no-values")
    counted.begun("call", "shop.Clock.now")
    code, [line], notes = counted.ended()
    assert (code, notes) == (0, "")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3}  shop\.Clock\.now  OK .* [mu]?s  from tcp://127\.0\.0\.1:\d+\n", line
    )
    other = Tap(tool, server.address)
    other.begun("call", "shop.Clock.now")
    tool.well("drain", server.address)
    code, _, notes = other.ended()
    assert (code, notes) == (0, f"{server.address} has ended the tap\n")


def test_a_tap_of_a_server_that_is_not_there_fails(tool: Tool) -> None:
    said = tool.fails(4, "tap", "tcp://127.0.0.1:9")
    assert "connection refused" in said


def test_a_tap_of_a_server_that_dies_fails(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, server = fresh
    tool.at(controller.address)
    tap = Tap(tool, server.address)
    tap.begun("call", "shop.Clock.now")
    server.kill()
    code, _, notes = tap.ended()
    assert (code, notes.count("\n")) == (4, 1)
    assert "CONNECTION_LOST" in notes


class Cpp:
    """A server in C++ (tests/interop/cpp/server.cpp) and calls of it."""

    def __init__(self, peers: Peers, *options: str, access: str = "") -> None:
        program = str(BUILD / "tests" / "interop" / "interop-server")
        command = [program, "--room", "north", "--room", "south", *options]
        self.server = peers.run(command, MF_PEER_ACCESS=access)
        self.address = self.server.address

    def call(self, method: str, arguments: str = "{}", room: str = "north") -> tuple[str, ...]:
        at = ("--at", room, "--where", self.address)
        return ("call", f"interop.Shapes.{method}", arguments, *at)


def test_a_server_in_cpp_shows_its_calls_with_values_as_json(tool: Tool, peers: Peers) -> None:
    cpp = Cpp(peers, "--listen", "tcp://127.0.0.1:0")
    tap = Tap(tool, cpp.address, "--json", "--agent", "north")
    tap.begun(*cpp.call("in1_out1", '{"a": 2}'))
    tool.well(*cpp.call("in2_out1", '{"a": [1, 2], "b": 3}', room="south"))
    tool.well(*cpp.call("in2_out1", '{"a": [1, 2], "b": 3}'))
    assert eventually(lambda: any('"in2_out1"' in line for line in tap.seen))
    code, lines, _ = tap.end()
    assert code == 130
    first, *_, last = (json.loads(line) for line in lines)
    named = [first[each] for each in ("server", "service", "method", "agent", "code")]
    assert named == [cpp.address, "interop.Shapes", "in1_out1", "north", "OK"]
    assert (first["request"], first["result"]) == ({"a": 2}, "2000000014")
    assert first["peer"].startswith("tcp://127.0.0.1:")
    assert {json.loads(line)["agent"] for line in lines} == {"north"}
    assert (last["request"], last["result"]) == ({"a": [1, 2], "b": 3}, [6, 3])


def test_a_server_in_cpp_shows_each_item_of_a_bulk_with_its_values(tool: Tool, peers: Peers) -> None:
    cpp = Cpp(peers, "--listen", "tcp://127.0.0.1:0")
    tap = Tap(tool, cpp.address, "--json")
    tap.begun(*cpp.call("in0_out1"))
    requests = [{"n": n, "word": "w" * n} for n in (1, 2, 3)]
    tool.well(*cpp.call("bounded", json.dumps(requests)), "--bulk")
    assert eventually(lambda: sum('"bounded"' in line for line in tap.seen) == 3)
    _, lines, _ = tap.end()
    items = [each for each in map(json.loads, lines) if each["method"] == "bounded"]
    assert [each["request"] for each in items] == requests
    assert [each["result"] for each in items] == [1, 2, 3]


def test_a_server_in_cpp_is_steered_by_its_name_at_the_controller(
    tool: Tool, peers: Peers, controller: Server
) -> None:
    cpp = Cpp(peers, "--listen", "tcp://127.0.0.1:0", "--controller", controller.address)
    tool.at(controller.address)
    with mf.Client(controller.address, wait_for_server=PATIENCE) as client:
        client.describe("interop.Shapes", agent="south", deadline=PATIENCE)
    assert tool.well("log-level", "interop-server") == f"{cpp.address} info\n"
    assert tool.json("log-level", "interop-server", "debug") == {"address": cpp.address, "level": "debug"}
    assert tool.well("log-level", cpp.address) == f"{cpp.address} debug\n"
    tap = Tap(tool, "interop-server")
    tap.begun(*cpp.call("in0_out1"))
    assert tool.well("drain", "interop-server") == f"{cpp.address} drains\n"
    code, _, notes = tap.ended()
    assert (code, notes) == (0, f"{cpp.address} has ended the tap\n")
    assert cpp.server.wait() == 0
    said = [line for line in cpp.server.said().splitlines() if " administered " in line]
    assert [what in line for what, line in zip(("debug", "tap", "drain"), said, strict=True)] == [True] * 3


def test_a_server_in_cpp_lets_in_only_whom_its_access_file_lets_administer(
    tool: Tool, peers: Peers, tmp_path: Path
) -> None:
    access = tmp_path / "access.conf"
    own = f"uid:{os.geteuid()}"
    access.write_text(f"allow {own} call *\n")
    access.chmod(0o600)
    cpp = Cpp(peers, "--listen", f"unix:{tmp_path}/s", access=str(access))
    for command in (("drain",), ("log-level",), ("tap", "--for", "5")):
        said = tool.fails(5, command[0], cpp.address, *command[1:])
        assert f"{own} may not call this method of mf.admin.Admin" in said
    assert tool.well(*cpp.call("in0_out1")) == '"4242"\n'
    denied = [line for line in cpp.server.said().splitlines() if "call_denied" in line]
    assert len(denied) == 3
    assert "service=mf.admin.Admin" in denied[0]
    (tmp_path / "next").write_text(f"allow {own} administer\nallow {own} call *\n")
    (tmp_path / "next").chmod(0o600)
    (tmp_path / "next").rename(access)
    cpp.server.signal(signal.SIGHUP)
    assert eventually(lambda: not tool.run("log-level", cpp.address).startswith("mf: ") and tool.code == 0)
    assert tool.well("drain", cpp.address) == f"{cpp.address} drains\n"


def test_a_relay_in_front_of_a_server_in_cpp_carries_no_request_of_an_operator(
    tool: Tool, peers: Peers, controller: Server
) -> None:
    """What is asked of the relay steers the relay itself."""
    cpp = Cpp(peers, "--listen", "tcp://127.0.0.1:0", "--controller", controller.address)
    relay = peers.relay(controller.address, "--to", "127.0.0.0/8")
    own = "tcp://" + relay.address.partition("://")[2]
    with mf.Client(own) as client:
        AdminClient(client).set_log_level(Level.error, options=mf.CallOptions(deadline=PATIENCE))
    assert tool.well("log-level", cpp.address) == f"{cpp.address} info\n"
    assert tool.well("log-level", own) == f"{own} error\n"


@pytest.mark.parametrize("options", [(), ("--own-identity",)], ids=["of its clients", "its own"])
def test_a_relay_carries_no_request_of_an_operator(
    tool: Tool, peers: Peers, fresh: tuple[Server, Server], options: tuple[str, ...]
) -> None:
    """Though a process has registered the service at the address of the server, which takes loopback."""
    controller, server = fresh
    relay = peers.relay(controller.address, "--to", "127.0.0.0/8", *options)
    liar = Registrations(controller.address)
    try:
        key = Key(KeyKind.service, "mf.admin.Admin", "")
        liar.add("liar", [Offer(key, [server.address], UUID(bytes=ADMIN_SERVICE.fingerprint), 1, {}, False)])
        with mf.Client(relay.address) as client:
            assert client.describe("shop.Clock", deadline=PATIENCE)
            AdminClient(client).set_log_level(Level.off, options=mf.CallOptions(deadline=PATIENCE))
            AdminClient(client).drain(options=mf.CallOptions(deadline=PATIENCE))
        assert relay.wait() == 0  # the one that was steered
    finally:
        liar.close()
    assert tool.well("log-level", server.address) == f"{server.address} warning\n"
