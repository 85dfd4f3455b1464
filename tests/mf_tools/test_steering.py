"""`mf drain`, `mf log-level` and `mf tap`."""

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
from mf.admin import AdminClient
from mf.admin._generated.mf.admin import ADMIN_SERVICE
from mf.controller import Key, KeyKind, Offer
from tests.interop.peers import PATIENCE, Server
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


def test_a_server_of_another_language_has_no_such_service(tool: Tool, controller: Server) -> None:
    address = controller.address.replace("mf://", "tcp://")
    assert "does not offer mf.admin.Admin" in tool.fails(1, "log-level", address)


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


def test_a_tap_of_a_server_that_dies_fails(tool: Tool, fresh: tuple[Server, Server]) -> None:
    controller, server = fresh
    tool.at(controller.address)
    tap = Tap(tool, server.address)
    tap.begun("call", "shop.Clock.now")
    server.kill()
    code, _, notes = tap.ended()
    assert (code, notes.count("\n")) == (4, 1)
    assert "CONNECTION_LOST" in notes


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
            for call in (AdminClient(client).log_level, AdminClient(client).drain):
                with pytest.raises(mf.PermissionDenied):
                    call(options=mf.CallOptions(deadline=PATIENCE))
    finally:
        liar.close()
    assert tool.well("log-level", server.address) == f"{server.address} warning\n"
