"""A client in Python of a newer schema than that of its server, which is in C++ (tests/interop)."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.error import Code
from tests.evolution.pairs import generate
from tests.interop.peers import Peers, Server

INTEROP = Path(__file__).parents[1] / "interop" / "interop.mfidl"
CHANGES = {
    "struct Hit { doc: u32; score: f32; title: string; }": (
        'struct Hit { title: string; note: string = "none"; doc: u64; score: f32; }'
    ),
    "struct Point { x: f64; y: f64; rank: Rank; visible: bool; }": (
        "struct Point { visible: bool; y: f64; x: f64; z: f64 = 0.5; rank: Rank; }"
    ),
    "struct Tree { value: i32; children: list<Tree>; left: Tree?; }": (
        "struct Tree { left: Tree?; children: list<Tree>; value: i64; }"
    ),
    "error Refused { why: string; hit: Hit; }": 'error Refused { hit: Hit; reason: string @was("why"); }',
    "  text(a: string) -> string;": "  newer() -> u8;\n  text(a: string) -> string;",
    "throws Refused, Missing": "throws Missing, Refused",
}


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The generated module of the schema that was changed."""
    folder = tmp_path_factory.mktemp("newer")
    text = INTEROP.read_text("utf-8")
    for before, after in CHANGES.items():
        assert before in text
        text = text.replace(before, after)
    (folder / "interop.mfidl").write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        generate(folder / "interop.mfidl", "mf_newer", folder)
        return importlib.import_module("mf_newer.interop")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    peers = Peers(tmp_path, tmp_path)
    yield peers.server("cpp", "--room", "red")
    peers.close()


@pytest.fixture
def room(server: Server, newer: Any) -> Iterator[Any]:
    with mf.Client(server.address) as client:
        yield newer.ShapesClient(client).at("red")


def test_values_of_every_kind_go_there_and_back(room: Any, newer: Any) -> None:
    low, mid = newer.Rank.low, newer.Rank.mid
    corners = newer.Point(True, 0.0, 0.0, 9.0, low), newer.Point(True, 2.0, 4.0, 9.0, low)
    middle = room.in2_out2(*corners).middle
    assert (middle.x, middle.y, middle.z) == (2.0, 1.0, 0.5)

    hits = [newer.Hit(title=f"h{n}", doc=n, score=n / 2) for n in range(5)]
    tree = newer.Tree(children=[newer.Tree(value=3)], value=1)
    found = room.in5_out2(tree, hits[0], hits, {mid: hits[1]}, None)
    assert found.best in hits

    assert room.text("a") == "a|red"
    with pytest.raises(mf.Error) as raised:
        room.newer()
    assert raised.value.code is Code.UNKNOWN_METHOD


def test_a_value_that_the_server_cannot_hold_fails_alone(room: Any, server: Server, newer: Any) -> None:
    tree = newer.Tree(value=1 << 40)
    with pytest.raises(mf.Error) as raised:
        room.in5_out2(tree, newer.Hit(), [], {}, None)
    assert raised.value.code is Code.INVALID_ARGUMENT
    words = "parameter a.value: 1099511627776 does not fit i32 of the server's schema"
    assert raised.value.message == f"{server.address}: Shapes.in5_out2: {words}"


def test_errors_of_the_server_arrive_in_the_order_of_the_client_in_a_batch_too(room: Any, newer: Any) -> None:
    requests = [newer.ShapesFailRequest(how) for how in range(40)]
    outcomes = room.fail_batch(requests).results()
    for how, outcome in enumerate(outcomes):
        kind = (int, newer.Refused, newer.Missing, mf.Error)[how % 4]
        assert isinstance(outcome.value() if how % 4 == 0 else outcome.error, kind), how
    assert all(outcomes[how].value() == 2 * how for how in range(0, 40, 4))
