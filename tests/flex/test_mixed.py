"""Flexible messages between C++ and Python: real processes under a real controller, in both directions."""

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import mf
from mf import flex
from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import BUILD, Peers, Process, peers, stubs
from tests.python.certificates import Authority
from tests.python.flex.notation import sorted_maps, value_of, written

__all__ = ["peers", "stubs"]

LIMIT = 60.0
VALUES = json.loads((Path(__file__).parents[1] / "vectors" / "flex" / "values.json").read_text("utf-8"))
KINDS = {"int": "integer"}

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []
    binary = BUILD / "tests" / "flex" / "flex-peer"
    assert binary.is_file(), f"{binary} is missing: cmake --build --preset release --target flex-peer"

    def begin(*arguments: str) -> Process:
        process = Process([str(binary), *arguments], dict(os.environ), tmp_path / f"{len(started)}.err")
        started.append(process)
        assert process.line() == "ready", process.said()
        return process

    yield begin
    for each in started:
        each.close()


def ended(process: Process) -> str:
    assert process.wait() == 0, process.said()
    return process.output()


def test_every_kind_of_value_goes_to_cpp_and_comes_back(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    echo = start(controller, "echo", "echo")
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        for number, vector in enumerate(VALUES):
            value = value_of(vector["value"])
            me.send(dest="echo", value=value, number=number)
            answer = me.recv(LIMIT, number=number)
            assert sorted_maps(written(answer.value)) == sorted_maps(vector["value"]), vector["name"]
            ((kind, _),) = vector["value"].items()
            assert answer.kinds["value"] == KINDS.get(kind, kind)
        me.send(dest="echo", stop=True)
    assert ended(echo) == ""


def test_cpp_sends_every_kind_of_value_to_python(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        say = start(controller, "sayer", "say", "me")
        message = me.recv(LIMIT, src="sayer")
        given = flex.attributes(message)
        array, typed = given.pop("array"), given.pop("typed")
        assert given == {
            "none": None,
            "yes": True,
            "small": -5,
            "large": (1 << 64) - 1,
            "half": 0.5,
            "text": "grüße",
            "bytes": b"\x00\xff",
            "time": mf.Timestamp(1),
            "uuid": UUID(bytes=bytes(range(16))),
            "list": [1, "two", [3.5]],
            "row": [1, 2, 300],
            "map": {"a": 1, 2: "b"},
        }
        assert type(given["time"]) is mf.Timestamp
        assert np.array_equal(array, np.arange(10_000.0).reshape(100, 100) / 2)
        assert (typed.name, typed.fingerprint, typed.data) == ("a.B", bytes((1, 2, *[0] * 14)), b"\x07")
        assert ended(say) == ""  # it has learnt that the message was taken


@pytest.fixture(scope="session")
def things(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("things")
    schema = Path(__file__).parent / "things.mfidl"
    outcome = compile_files([str(schema)], [], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("things")
    finally:
        sys.path.remove(str(folder))


def test_values_of_a_schema_go_to_cpp_and_come_back_changed(peers: Peers, start: Start, things: Any) -> None:
    controller = peers.controller().address
    mover = start(controller, "mover", "move")
    thing = things.Thing("box", things.Colour.red, [things.Point(1, 2), things.Point(3, 4)])
    for kind in (things.ShapePoint, things.Colour):
        flex.know(kind)
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        me.send(dest="mover", thing=thing, colour=things.Colour.red)
        answer = me.recv(LIMIT, src="mover", thing=things.Thing)
        assert ended(mover) == ""
    moved = [things.Point(2, 2), things.Point(4, 4)]
    assert answer.thing == things.Thing("box", things.Colour.blue, moved)
    assert answer.shape == things.ShapePoint(things.Point(2, 2))
    assert answer.colours == [things.Colour.blue, things.Colour.red]


def later_things(folder: Path) -> Any:
    """The schema as a later program has it."""
    text = (Path(__file__).parent / "things.mfidl").read_text()
    text = text.replace("x: i32;\n  y: i32;", "y: i64;\n  x: i64;\n  z: i64 = 9;")
    text = text.replace("name: string", '@was("name") title: string')
    text = text.replace("blue = 2,", "blue = 2,\n  green = 3,")
    schema = folder / "things.mfidl"
    schema.write_text(text)
    targets = Targets(python=str(folder), python_package="later_version")
    outcome = compile_files([str(schema)], [], targets)
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return importlib.import_module("later_version.things")
    finally:
        sys.path.remove(str(folder))


def test_processes_with_two_versions_of_a_type_send_each_other_values(
    peers: Peers, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mf.codec.flex import declared

    for table in ("_by_class", "_by_name", "_latest"):
        monkeypatch.setattr(declared, table, {})
    later = later_things(tmp_path)
    controller = peers.controller().address
    mover = start(controller, "mover", "move")
    thing = later.Thing("box", later.Colour.red, [later.Point(y=2, x=1, z=5)])
    for kind in (later.ShapePoint, later.Colour):
        flex.know(kind)
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("me")
        me.send(dest="mover", thing=thing, colour=later.Colour.red)
        answer = me.recv(LIMIT, src="mover", thing=later.Thing)
        assert ended(mover) == ""
    assert answer.thing == later.Thing("box", later.Colour.blue, [later.Point(y=2, x=2, z=9)])
    assert answer.shape == later.ShapePoint(later.Point(y=2, x=2, z=9))
    assert answer.colours == [later.Colour.blue, later.Colour.red]


@pytest.mark.parametrize("taken", [0, 3])
def test_a_sender_in_python_learns_what_a_killed_process_of_cpp_had_not_taken(
    peers: Peers, start: Start, taken: int
) -> None:
    controller = peers.controller().address
    killed = start(controller, "B", "take", str(taken))
    lost: list[int] = []
    unknown: list[bool] = []

    def note(undelivered: flex.Undelivered) -> None:
        lost.extend(message.n for message in undelivered.messages)
        unknown.append(undelivered.execution is mf.Execution.UNKNOWN)

    with flex.Node(controller, patience=1.0) as node:
        me = node.process("A", on_undelivered=note)
        sent = [me.send(dest="B", n=n) for n in range(10)]
        for each in sent[:taken]:
            each.wait(LIMIT)
        killed.kill()
        for each in sent[taken:]:
            with pytest.raises(flex.Undelivered):
                each.wait(LIMIT)
    assert lost == list(range(taken, 10))
    assert len(unknown) == 10 - taken


def test_messages_of_python_come_to_cpp_in_order(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    count = start(controller, "B", "count", "5000")
    with flex.Node(controller, patience=LIMIT) as node:
        me = node.process("A")
        sent: Any = None
        for n in range(5000):
            sent = me.send(dest="B", n=n)
        sent.wait(LIMIT)
    assert ended(count).split() == [str(n) for n in range(5000)]


@pytest.mark.parametrize("over", ["relay", "relay+tls", "mf+tls"])
def test_nodes_in_both_languages_find_each_other_through_a_relay_and_over_tls(
    peers: Peers, start: Start, over: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They register there, too. Behind a relay the nodes themselves listen at TCP here. With the controller
    over TLS they listen at TLS, since addresses in clear are not used then."""
    authority = Authority(tmp_path)
    shown = authority.issue()
    shows = ("--certificate", shown.certificate, "--key", shown.key)
    if "tls" in over:  # a node with `tls` uses no address in clear
        monkeypatch.setenv("MF_PEER_CA", authority.file)
    own: dict[str, str] = {}
    if over == "mf+tls":
        monkeypatch.setenv("MF_PEER_LISTEN", "tls://127.0.0.1:0")
        monkeypatch.setenv("MF_PEER_CERTIFICATE", shown.certificate)
        monkeypatch.setenv("MF_PEER_KEY", shown.key)
        own = {"listen": "tls://127.0.0.1:0"}
        where = peers.controller_at("tls://127.0.0.1:0", *shows).address
    else:
        controller = peers.controller().address
        tls = over == "relay+tls"
        listen = "tls://127.0.0.1:0" if tls else "tcp://127.0.0.1:0"
        shows = ("--registrations", *(shows if tls else ()))
        where = peers.relay(controller, *shows, listen=listen).address
    assert where.startswith(f"{over}://")
    echo = start(where, "echo", "echo")

    tls_of_node = authority.accepted if "tls" in over else None
    if own:
        tls_of_node = mf.Tls(ca=authority.file, certificate=shown.certificate, key=shown.key)
    with (
        flex.Node(where, patience=LIMIT, tls=tls_of_node, **own) as node,
        flex.Node(where, patience=LIMIT, tls=tls_of_node, **own) as other,
    ):
        me, its = node.process("me"), other.process("its")
        for number in range(3):
            me.send(dest="echo", number=number)
            assert me.recv(LIMIT, src="echo", number=number).kinds == {"number": "integer"}
        me.send(dest="its", hello=True)
        assert its.recv(LIMIT, src="me").hello
        me.send(dest="echo", stop=True)
    assert ended(echo) == ""


def test_the_cpp_program_of_the_page_prints_what_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "flexible.md").read_text("utf-8")
    printed = re.search(r"It prints:\n\n```\n(.*?)```", page, re.DOTALL)
    assert printed is not None
    program = [str(BUILD / "tests" / "flex" / "flex-page")]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout == printed.group(1).replace("mf.flex.", "mf::flex::")
