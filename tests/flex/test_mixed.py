"""Flexible messages between C++ and Python: real processes under a real controller, in both directions."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import mf
from mf import flex
from tests.interop.peers import BUILD, Peers, Process, peers, stubs
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
