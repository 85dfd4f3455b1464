"""`mf call`: every shape of a call, what is typed wrong, and what fails."""

import json
import os
from pathlib import Path

import pytest

from tests.interop.peers import Server
from tests.mf_tools.conftest import Peers, Tool

SEA = {
    "id": "1",
    "title": "The sea",
    "price": 12.5,
    "size": {"width": 10.0, "height": 20.0, "kind": "book"},
    "marks": ["sale"],
    "tongue": "en",
}


@pytest.fixture
def at(tool: Tool, registered: Server, controller: Server) -> Tool:
    """At the controller of a shop."""
    del registered
    return tool.at(controller.address)


def test_a_method_is_called_by_its_full_and_its_short_name(at: Tool) -> None:
    for name in ("shop.Shop.find", "Shop.find"):
        assert json.loads(at.well("call", name, '{"most": 1}')) == [SEA]


def test_parameters_come_from_standard_input_and_from_a_file(at: Tool) -> None:
    Path("size.json").write_text('{"size": {"width": 2, "height": 4, "kind": "map"}}\n')
    assert at.well("call", "shop.Shop.area", "@size.json") == "8.0\n"
    assert at.well("call", "shop.Shop.area", "-", given=Path("size.json").read_bytes()) == "8.0\n"


def test_a_template_of_the_request_can_be_called(at: Tool) -> None:
    for method in ("find", "area", "note", "slow", "count"):
        example = at.well("call", f"shop.Shop.{method}", "--example")
        at.well("call", f"shop.Shop.{method}", example)
    assert json.loads(at.well("call", "shop.Shop.find", "--example")) == {"word": "sea", "most": 10}


def test_a_call_goes_to_one_agent_to_several_and_to_all(at: Tool) -> None:
    ask = ("call", "shop.Shop.answer", '{"question": "?"}')
    assert at.well(*ask, "--at", "maps") == '{"text":"maps: ?"}\n'
    each = 'books: {"text":"books: ?"}\nmaps: {"text":"maps: ?"}\n'
    assert at.well(*ask, "--at", "books", "--at", "maps") == each
    found = [json.loads(line) for line in at.well(*ask, "--everywhere", "--json").splitlines()]
    assert sorted(line["agent"] for line in found) == ["books", "maps"]
    assert at.fails(2, *ask, "--any", "--everywhere").startswith("--at, --any and --everywhere exclude")


def test_an_agent_that_is_not_there_fails_beside_one_that_is(at: Tool) -> None:
    at.run("call", "shop.Shop.answer", '{"question": "?"}', "--at", "books", "--at", "none", "--json")
    assert at.code == 4
    books, none = (json.loads(line) for line in at.out.splitlines())
    assert (books["result"], none["error"]["code"]) == ({"text": "books: ?"}, "UNAVAILABLE")


@pytest.mark.parametrize("how", ["--batch", "--bulk"])
def test_many_requests_have_an_outcome_a_line(at: Tool, how: str) -> None:
    array = '[{"title": "The sea"}, {"title": "?"}]'
    lines = '{"title": "The sea"}\n\n{"title": "?"}\n'
    for given in (array, lines):
        at.run("call", "shop.Shop.item", how, "--at", "books", given=given)
        first, second = map(json.loads, at.out.splitlines())
        assert at.code == 6
        assert first == SEA
        assert second["error"]["name"] == "shop.NotFound"


def test_streams_are_lines_in_both_directions(at: Tool) -> None:
    assert at.well("call", "shop.Shop.count", '{"to": 3}') == "1\n2\n3\n"
    assert at.well("call", "shop.Shop.total", '{"start": 4}', given="1\n2\n") == '"7"\n'
    Path("numbers").write_text("5\n6\n")
    assert at.well("call", "shop.Shop.total", "-", "--values", "numbers", given='{"start": 0}') == '"11"\n'
    assert at.well("call", "shop.Shop.shout", given='"a"\n"b"\n') == '"A"\n"B"\n'


def test_a_wrong_value_of_a_stream_is_named_by_its_line(at: Tool) -> None:
    for method, text in (("total", '{"start": 1}'), ("shout", "{}")):
        said = at.fails(2, "call", f"shop.Shop.{method}", text, given='"1"\n[]\n')
        assert said.startswith("line 2 of the values: ")


def test_metadata_and_a_one_way_call_arrive(at: Tool) -> None:
    assert at.well("call", "shop.Shop.note", '{"text": "one"}', "--at", "maps") == ""
    notes = at.well("call", "shop.Shop.notes", "--at", "maps", "-m", "for=me")
    assert json.loads(notes)[-1] == "for=me"
    assert "KEY=VALUE" in at.fails(2, "call", "shop.Shop.notes", "-m", "for")


def test_a_deadline_ends_a_call_with_4(at: Tool) -> None:
    said = at.fails(4, "call", "shop.Shop.slow", '{"seconds": 0.5}', "--deadline", "0.2", "--at", "books")
    assert said.startswith("DEADLINE_EXCEEDED: ")


def test_a_declared_error_ends_with_6(at: Tool) -> None:
    said = at.fails(6, "call", "shop.Shop.item", '{"title": "?"}')
    assert said == 'shop.NotFound {"title":"?","nearest":["The sea","Sea charts"]}'


def test_what_breaks_a_constraint_ends_with_1(at: Tool) -> None:
    assert "most, " in at.fails(1, "call", "shop.Shop.find", '{"most": 1000}')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shop.Shop.fnd"], "shop.Shop has no method fnd; did you mean find?"),
        (["shop.Shop.zzz"], "shop.Shop has no method zzz; it has find, item, "),
        (["find"], "'find' is no method: give SERVICE.METHOD"),
        (["shop.Clock.now", "--at", "a"], "shop.Clock has no agents: leave --at out"),
        (["shop.Shop.find", "-x"], "No such option '-x'. (see: mf call --help)"),
    ],
)
def test_what_is_typed_wrong_is_named_with_what_was_meant(at: Tool, arguments: list[str], said: str) -> None:
    assert at.fails(2, "call", *arguments).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"wrod": "x"}', "wrod"),
        ('{"most": 1e999}', "most"),
        ('{"word": "a", "word": "b"}', "word"),
        ('{"most": 1', "at byte 10"),
        ("[" * 1000 + "]" * 1000, "at byte 0"),
        ('{"word": ' + "[" * 1000, "word"),
    ],
)
def test_json_that_is_none_of_the_method_is_refused(at: Tool, text: str, said: str) -> None:
    line = at.fails(1, "call", "shop.Shop.find", text)
    assert line.startswith("DECODE_ERROR: ")
    assert said in line


def test_an_input_without_end_and_one_that_is_no_text_are_refused(at: Tool) -> None:
    assert "not UTF-8 at byte 1" in at.fails(2, "call", "shop.Shop.find", "-", given=b'"\xff"')
    Path("large").touch()
    os.truncate("large", (32 << 20) + 1)
    assert "more than 32 MiB" in at.fails(2, "call", "shop.Shop.find", "@large")
    assert at.fails(3, "call", "shop.Shop.find", "@none") == "'none': No such file or directory"


@pytest.mark.parametrize("how", ["--batch", "--bulk"])
def test_a_request_of_several_that_is_wrong_is_named_by_its_number(at: Tool, how: str) -> None:
    call = ("call", "shop.Shop.item", how)
    twice = ' [ {"title": "a, ] b"}, {"title": "x", "title": "y"} ] '
    assert "request 2: item.title, at byte 15: a field is there twice" in at.fails(1, *call, given=twice)
    assert "request 1: item.title" in at.fails(1, *call, given='[{"title": 1e999}]')
    assert "are no JSON array" in at.fails(2, *call, given='[{"title": "x"},')
    assert at.well(*call, given=" [ ] ") == ""


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (("call", "Shp.find"), "shop.Shop"),
        (("call", "shop.Shp.find", "--deadline", "0.3"), "shop.Shop"),
        (("bench", "shop.Clok.now", "--deadline", "0.3"), "shop.Clock"),
        (("sub", "shop.Saels", "--deadline", "0.3"), "shop.Sales"),
        (("record", "shop.Saels", "none.rec", "--deadline", "0.3"), "shop.Sales"),
        (("pub", "shop.Saels", "1", "--deadline", "0.3"), "shop.Sales"),
        (("describe", "shop.Shoop", "--deadline", "0.3"), "shop.Shop"),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(
    at: Tool, command: tuple[str, ...], meant: str
) -> None:
    assert at.fails(1, *command).endswith(f"did you mean {meant}?")


def test_a_call_goes_through_a_relay(
    tool: Tool, peers: Peers, controller: Server, registered: Server
) -> None:
    del registered
    relay = peers.relay(controller.address)
    tool.at(relay.address.replace("tcp://", "relay://"))
    assert json.loads(tool.well("call", "Shop.find", '{"most": 1}', "--at", "maps")) == [SEA]
    assert tool.well("call", "Shop.count", '{"to": 2}') == "1\n2\n"


def test_nothing_that_listens_ends_with_4(tool: Tool) -> None:
    said = tool.at("tcp://127.0.0.1:1").fails(4, "call", "shop.Shop.find", "--deadline", "1")
    assert said.startswith("UNAVAILABLE: connect tcp://127.0.0.1:1: ")


def test_a_service_that_is_not_there_is_named(at: Tool) -> None:
    assert "nothing with the name 'None' is registered" in at.fails(1, "call", "None.find")
    assert "no server offers shop.None" in at.fails(1, "call", "shop.None.find", "--deadline", "0.3")


def test_without_an_address_it_says_how_to_give_one(tool: Tool) -> None:
    assert tool.fails(2, "call", "shop.Shop.find").startswith("it is not said where: give --where ADDRESS")


def test_a_replicated_method_says_its_version(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()
    peers.ledger(controller.address)
    tool.at(controller.address)
    for number, require in enumerate(("one", "majority", "all", "all")):
        add = ("call", "ledger.Ledger.add", f'{{"entry": "{number}"}}', "--require", require)
        if number == 3:
            assert tool.fails(6, *add) == 'ledger.Full {"most":3}'
        else:
            assert tool.well(*add) == "null\n"
            assert tool.err.startswith("version ")
    assert tool.well("call", "ledger.Ledger.entries") == '["0","1","2"]\n'
    assert "@replicated(pattern = one_hop_ack_client) add(entry: string)" in tool.well("describe", "Ledger")
    assert "is replicated" in tool.fails(2, "bench", "ledger.Ledger.add", '{"entry": "x"}')
