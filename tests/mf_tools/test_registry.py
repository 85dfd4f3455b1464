"""`mf ls`, `mf describe`, `mf latency`, `mf bench`: what a controller and its servers say of themselves."""

import json
from pathlib import Path

import pytest

import mf
from mf_tools.measured import bars, histogram, percentile, summary
from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool
from tests.python.conftest import Recorder as Echo
from tests.python.conftest import eventually


@pytest.fixture
def at(tool: Tool, registered: Server, controller: Server) -> Tool:
    """At the controller of a shop."""
    del registered
    return tool.at(controller.address)


def test_what_is_registered_is_a_table(at: Tool) -> None:
    lines = [line.split() for line in at.well("ls").splitlines()]
    assert lines[0] == ["kind", "name", "agents", "instances", "schemas"]
    assert [line[:2] for line in lines[1:]] == [
        ["service", "shop.Clock"],
        ["service", "shop.Shop"],
        ["topic", "shop.News"],
        ["topic", "shop.Sales"],
    ]
    assert lines[2][2:5] == ["books,", "maps", "1"]


def test_a_pattern_and_a_kind_choose(at: Tool) -> None:
    assert [each["name"] for each in at.json("ls", "shop.S*", "--topics")] == ["shop.Sales"]
    assert at.json("ls", "nothing.*") == []


def test_each_instance_has_its_address_and_its_health(at: Tool, registered: Server) -> None:
    found = at.json("ls", "shop.Shop", "--health")
    assert [each["agent"] for each in found] == ["books", "maps"]
    assert all(each["addresses"] == [registered.address] for each in found)
    assert all(each["health"].startswith("ok, ") and each["verified"] for each in found)
    assert registered.address in at.well("ls", "-l")


def test_a_server_that_is_not_ready_says_why(tool: Tool, controller: Server) -> None:
    with mf.Server(controller=controller.address) as server:
        server.offer(Echo(), agent="a")
        server.add_check("disk", lambda: "it is full", service="demo.Echo")
        at = tool.at(controller.address)
        assert eventually(lambda: at.json("ls", "demo.Echo") != [])
        [found] = at.json("ls", "demo.Echo", "--health")
    assert found["health"].startswith("not serving: disk: it is full, ")


def test_a_server_has_no_list(tool: Tool, shop: Server) -> None:
    said = tool.at(shop.address).fails(2, "ls")
    assert said == f"{shop.address} is a server: this needs a controller (mf://) or a relay (relay://)"


@pytest.mark.parametrize("name", ["shop.Shop", "shop.Sales", "shop.News", "shop.Clock"])
def test_the_schema_that_is_shown_compiles_to_the_same(at: Tool, name: str) -> None:
    shown = at.well("describe", name)
    Path("again.mfidl").write_text(shown)
    outcome = compile_files(["again.mfidl"], [], Targets(python="again"))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    raw = json.loads(at.well("describe", name, "--raw"))
    made = Path("again/shop", "_methods.py" if raw["descriptor"].startswith("service") else "_topics.py")
    assert raw["descriptor"] in made.read_text()
    assert not raw["annex"].splitlines()[1:] or raw["annex"] in made.read_text()


def test_a_struct_of_memcpy_is_shown_with_its_layout(at: Tool) -> None:
    shown = at.well("describe", "Shop")
    assert "struct Size {  // 24 bytes, aligned to 8\n  width: f64;  // at 0\n" in shown
    assert "  kind: Kind;  // at 16\n" in shown
    assert 'find(word: string = "sea", most: u32 @range(1..100) = 10) -> list<Item>;' in shown


def test_what_is_not_there_is_not_described(at: Tool) -> None:
    assert "no server offers shop.Nothing" in at.fails(1, "describe", "shop.Nothing", "--deadline", "0.3")


def test_round_trips_are_measured_to_each_instance(at: Tool, registered: Server) -> None:
    [row] = [json.loads(line) for line in at.well("latency", "Shop", "-n", "5", "--json").splitlines()]
    assert (row["address"], row["error"], row["count"]) == (registered.address, "", 5)
    assert 0 < row["min"] <= row["p50"] <= row["p99"] <= row["max"]
    assert at.well("latency", "-n", "2").splitlines()[0].split()[:2] == ["address", "first"]


def test_round_trips_to_nothing_end_with_4(tool: Tool) -> None:
    tool.at("tcp://127.0.0.1:1").run("latency", "-n", "1", "--json")
    assert tool.code == 4
    assert "UNAVAILABLE" in json.loads(tool.out)["error"]


def test_a_bench_counts_its_calls_and_is_compared(at: Tool) -> None:
    bench = ("bench", "shop.Shop.find", "--rate", "200", "--for", "0.1", "--at", "books")
    run = at.json(*bench, "--out", "run.json")
    assert (run["calls"], run["failures"]) == (20, {})
    assert run["latency"]["count"] == 20
    assert sum(count for _, count in run["histogram"]) == 20
    lines = at.well(*bench, "--compare", "run.json").splitlines()
    assert lines[1].split() == ["latency", "before", "now", "change"]
    Path("none.json").write_text("[1]")
    assert "is no run of" in at.fails(2, *bench, "--compare", "none.json")


def test_a_bench_counts_failures_by_their_codes(at: Tool) -> None:
    at.run("bench", "shop.Shop.slow", '{"seconds": 0.3}', "--rate", "20", "--for", "0.1", "--deadline", "0.2")
    assert at.code == 4  # the first call, which connects, shows mistakes at once
    assert "has a stream or is replicated" in at.fails(2, "bench", "shop.Shop.count", '{"to": 1}')


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(each) for each in range(1, 101)]
    assert [percentile(values, each) for each in (50, 90, 99, 99.9)] == [50.0, 90.0, 99.0, 100.0]
    assert percentile([7.0], 50) == 7.0
    assert summary([]) == {}
    assert summary([0.001, 0.003])["mean"] == 2000.0


def test_a_histogram_has_no_gaps() -> None:
    found = histogram([0.000_003, 0.000_003, 0.000_030])
    assert found == [(4, 2), (8, 0), (16, 0), (32, 1)]
    assert [line.split()[3:] for line in bars(found, 4)] == [["2", "####"], ["0"], ["0"], ["1", "##"]]
