"""`mf record --calls` and `mf replay` of calls, at servers in Python and in C++."""

import json
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mf
from tests.interop.peers import BUILD, PATIENCE, Server
from tests.mf_tools.conftest import Peers, Tool
from tests.mf_tools.test_hostile import interrupted
from tests.python.conftest import eventually

FOUND = ("call", "shop.Shop.find", '{"word": "charts"}', "--at", "maps")
AGAIN = ("--again", "shop.Shop.*", "--speed", "0")


def lines(file: str = "calls.rec") -> list[dict[str, Any]]:
    """The whole ones."""
    text = Path(file).read_text() if Path(file).exists() else ""
    return [json.loads(each) for each in text.splitlines(keepends=True) if each.endswith("\n")]


def calls(file: str = "calls.rec") -> list[dict[str, Any]]:
    return [each for each in lines(file) if "method" in each]


class Record:
    """A running `mf record --calls`."""

    def __init__(self, tool: Tool, *arguments: str, **options: Any) -> None:
        self._tool = tool
        self._process = tool.process("record", "--calls", *arguments, **options)

    def begun(self, *call: str) -> None:
        """Repeats the call until it is recorded: when a tap begins is not seen from outside."""

        def is_recorded() -> bool:
            assert self._process.poll() is None, self._process.communicate()
            self._tool.run(*call)
            return bool(calls())

        assert eventually(is_recorded)

    def until(self, method: str) -> None:
        assert eventually(lambda: any(each["method"] == method for each in calls()))

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=PATIENCE)

    def end(self) -> str:
        """Its notes, after Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        _, notes = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 130, notes
        return notes.decode()


@pytest.fixture
def at(tool: Tool, shop: Server) -> Tool:
    """At a shop without a controller."""
    return tool.at(shop.address)


@pytest.fixture
def recorded(at: Tool, shop: Server) -> Tool:
    """With calls of four kinds in calls.rec."""
    record = Record(at, shop.address, "calls.rec", "--service", "shop.*")
    record.begun(*FOUND)
    at.fails(6, "call", "shop.Shop.item", '{"title": "?"}', "--at", "books")
    record.until("item")
    at.well("call", "shop.Shop.count", '{"to": 2}')
    record.until("count")
    at.well("call", "shop.Clock.now")
    record.until("now")
    notes = record.end()
    assert notes.splitlines() == [
        f"recorded {len(calls())}",
        "1 have a stream, whose values are not recorded",
        "mf: interrupted",
    ]
    return at


def rewritten(change: Callable[[dict[str, Any]], object], file: str = "changed.rec") -> str:
    """The calls of calls.rec, of which `change` has changed each line."""
    made = lines()
    for each in made:
        change(each)
    Path(file).write_text("".join(json.dumps(each) + "\n" for each in made))
    return file


@pytest.mark.usefixtures("recorded")
def test_a_call_is_a_line_without_its_caller() -> None:
    head, of_shop, first, *_ = lines()
    assert (head["mf_calls"], of_shop["of"], of_shop["service"]) == (1, 0, "shop.Shop")
    named = [first[each] for each in ("t", "of", "service", "method", "agent", "code")]
    assert named == [0.0, 0, "shop.Shop", "find", "maps", "OK"]
    assert first["arguments"] == {"word": "charts", "most": 10}
    assert [each["title"] for each in first["result"]] == ["Sea charts"]
    assert first["took"] > 0
    declared, stream, now = (each for each in calls() if each["method"] != "find")
    assert (declared["code"], declared["agent"], declared["arguments"]) == (
        "DECLARED",
        "books",
        {"title": "?"},
    )
    assert "NotFound" in declared["error"]
    assert (stream["stream"], "result" in stream) == (True, False)
    assert (now["of"], now["result"], now["agent"]) == (1, "2023-11-14T22:13:20Z", "")
    known = {
        "t",
        "of",
        "service",
        "method",
        "agent",
        "arguments",
        "code",
        "took",
        "result",
        "error",
        "stream",
    }
    assert set().union(*calls()) <= known
    assert "127.0.0.1" not in Path("calls.rec").read_text()
    assert Path("calls.rec").stat().st_mode & 0o777 == 0o600


def test_calls_end_again_as_recorded(recorded: Tool) -> None:
    count = len(calls())
    out = recorded.well("replay", "calls.rec", "--again", "*", "--speed", "1000", "--results")
    assert out.splitlines()[0].startswith(f"{count - 1} calls in ")
    assert out.splitlines()[1:3] == [f"{count - 1} ended as recorded", "left out: 1 with a stream"]
    found = recorded.json("replay", "calls.rec", *AGAIN)
    assert (found["calls"], found["same"], found["others"]) == (count - 2, count - 2, {})
    assert found["left_out"] == {"of other methods": 1, "with a stream": 1}
    assert found["latency"]["count"] == count - 2
    assert found["rate"] > 0


def test_a_method_runs_again_only_if_it_is_named(recorded: Tool) -> None:
    said = recorded.fails(2, "replay", "calls.rec")
    assert said == (
        "no server says whether a method may run twice: name those that may with --again, of shop.Clock.now, "
        "shop.Shop.count, shop.Shop.find, shop.Shop.item; --again '*' is all of them"
    )
    said = recorded.fails(2, "replay", "calls.rec", "--again", "shop.Shop.note")
    assert said == f"the recording has no call to make; left out: {len(calls())} of other methods"
    found = recorded.json("replay", "calls.rec", "--again", "shop.Clock.now", "--speed", "0")
    assert (found["calls"], found["same"]) == (1, 1)


def test_another_outcome_is_counted_and_shown(recorded: Tool) -> None:
    def change(each: dict[str, Any]) -> None:
        if each.get("method") == "item":
            each["arguments"] = {"title": "The sea"}
        if each.get("method") == "now":
            each["result"] = "2020-01-01T00:00:00Z"

    rewritten(change)
    recorded.run("replay", "changed.rec", "--again", "*", "--speed", "0", "--json")
    assert recorded.code == 1
    found = json.loads(recorded.out)
    assert found["others"] == {"DECLARED -> OK": 1}
    [example] = found["examples"]
    at = next(n for n, each in enumerate(lines("changed.rec"), 1) if each.get("method") == "item")
    assert (example["line"], example["method"]) == (at, "shop.Shop.item")
    recorded.run("replay", "changed.rec", "--again", "*", "--speed", "0", "--results")
    assert recorded.code == 1
    assert "1 had DECLARED -> OK" in recorded.out
    assert '"2020-01-01T00:00:00Z" -> "2023-11-14T22:13:20Z"' in recorded.out


def test_servers_adapt_to_the_recorded_schema(recorded: Tool) -> None:
    def older(each: dict[str, Any]) -> None:
        """Of a version in which `find` had only one parameter."""
        for key in ("descriptor", "annex"):
            if key in each and each["service"] == "shop.Shop":
                each[key] = "\n".join(
                    line for line in each[key].split("\n") if not line.strip().startswith("most ")
                )
        if each.get("method") == "find":
            del each["arguments"]["most"]

    rewritten(older)
    assert lines("changed.rec")[1]["descriptor"] != lines()[1]["descriptor"]
    found = recorded.json("replay", "changed.rec", "--again", "shop.Shop.find", "--speed", "0", "--results")
    assert found["others"] == {}
    assert recorded.err == "shop.Shop has another schema than in the recording: it adapts\n"


def test_calls_that_the_servers_schema_does_not_have_are_counted(recorded: Tool) -> None:
    def other(each: dict[str, Any]) -> None:
        """Of a version in which the title of `item` was a number, and `now` had another name."""
        if "descriptor" in each:
            head = " method item\n  params febird\n   title "
            each["descriptor"] = each["descriptor"].replace(f"{head}string", f"{head}u32")
            each["descriptor"] = each["descriptor"].replace(" method now", " method then")
        if each.get("method") == "item":
            each["arguments"]["title"] = 7
        if each.get("method") == "now":
            each["method"] = "then"

    rewritten(other)
    recorded.run("replay", "changed.rec", "--again", "*", "--speed", "0", "--json")
    assert recorded.code == 1, recorded.err
    found = json.loads(recorded.out)
    assert found["others"] == {"DECLARED -> SCHEMA_MISMATCH": 1, "OK -> UNKNOWN_METHOD": 1}
    assert found["calls"] == found["same"] + 2


def test_arguments_are_read_as_those_of_now(recorded: Tool) -> None:
    def less(each: dict[str, Any]) -> None:
        if each.get("method") == "find":
            del each["arguments"]["most"]  # it has a default

    rewritten(less)
    recorded.well("replay", "changed.rec", *AGAIN, "--now")

    def more(each: dict[str, Any]) -> None:
        if each.get("method") == "find":
            each["arguments"]["words"] = []

    rewritten(more)
    said = recorded.fails(2, "replay", "changed.rec", *AGAIN, "--now")
    assert said.startswith("line 3: shop.Shop.find: ")
    assert "`words` is not a field" in said

    def other(each: dict[str, Any]) -> None:
        if each.get("method") == "find":
            each["method"] = "search"

    rewritten(other)
    said = recorded.fails(2, "replay", "changed.rec", *AGAIN, "--now")
    assert said == "line 3: shop.Shop has no method search"


def test_a_value_that_is_too_large_is_counted_and_not_called(at: Tool, shop: Server) -> None:
    record = Record(at, shop.address, "calls.rec", "--method", "find")
    record.begun(*FOUND)
    large = json.dumps({"word": "w" * (1 << 17)})
    at.well("call", "shop.Shop.find", "-", given=large)
    assert eventually(lambda: any("arguments" not in each for each in calls()))
    assert "1 are recorded without arguments: the parameters have more than 65536 bytes" in record.end()
    found = at.json("replay", "calls.rec", *AGAIN)
    assert found["left_out"] == {"without arguments": 1}
    assert found["calls"] == len(calls()) - 1


def test_only_who_may_administer_records_calls(tool: Tool, peers: Peers, tmp_path: Path) -> None:
    access = tmp_path / "access.conf"
    own = f"uid:{os.geteuid()}"
    access.write_text(f"allow {own} call *\n")
    server = peers.shop(f"unix:{tmp_path}/s", access=str(access))
    said = tool.fails(5, "record", "--calls", server.address, "calls.rec", "--for", "5")
    assert f"{own} may not call this method of mf.admin.Admin" in said
    assert not Path("calls.rec").exists()


def test_what_is_for_the_other_kind_is_refused(recorded: Tool, shop: Server) -> None:
    assert "is there already" in recorded.fails(2, "record", "--calls", shop.address, "calls.rec")
    assert "need --calls" in recorded.fails(2, "record", "shop.Sales", "x.rec", "--method", "find")
    assert "are for messages" in recorded.fails(2, "replay", "calls.rec", *AGAIN, "--wait", "1")
    Path("none.rec").write_text("{}\n")
    assert "are for calls" in recorded.fails(2, "replay", "none.rec", "--again", "*")


def test_a_recording_of_calls_that_is_cut_or_damaged(recorded: Tool) -> None:
    text = Path("calls.rec").read_text()
    Path("cut.rec").write_text(text[:-5])  # the last call is shop.Clock.now
    found = recorded.json("replay", "cut.rec", "--again", "*", "--speed", "0")
    assert found["calls"] == len(calls()) - 2
    Path("bad.rec").write_text(text + "nonsense\n")
    said = recorded.fails(3, "replay", "bad.rec", "--again", "*")
    at = len(text.encode())
    assert said == f"'bad.rec': line {len(lines()) + 1} (at byte {at}) is no call"
    Path("bad.rec").write_text(text.replace('"code":"DECLARED"', '"code":"NO_CODE"'))
    assert "is no call" in recorded.fails(3, "replay", "bad.rec", "--again", "*")


def test_a_server_that_is_not_there_ends_a_replay(recorded: Tool) -> None:
    said = recorded.fails(
        4, "replay", "calls.rec", *AGAIN, "--where", "tcp://127.0.0.1:9", "--deadline", "0.5"
    )
    assert "connection refused" in said


def test_a_recording_of_calls_on_a_full_disk_keeps_what_it_has(at: Tool, shop: Server) -> None:
    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))

    record = ("record", "--calls", shop.address, "calls.rec", "--method", "find")
    process = at.process(*record, preexec_fn=small, env={"PYTHONDONTWRITEBYTECODE": "1"})

    def has_ended() -> bool:
        at.well("call", "shop.Shop.find", json.dumps({"word": "w" * 2000}))
        return process.poll() is not None

    assert eventually(has_ended)
    _, err = process.communicate(timeout=PATIENCE)
    count = len(calls())
    assert count > 0
    said = [f"recorded {count}".encode(), b"mf: cannot write: File too large"]
    assert (process.returncode, err.splitlines()) == (3, said)
    assert Path("calls.rec").stat().st_size == 9000
    assert at.json("replay", "calls.rec", *AGAIN)["calls"] == count


def test_what_a_killed_recorder_has_written_is_read(at: Tool, shop: Server) -> None:
    record = Record(at, shop.address, "calls.rec", "--method", "find")
    record.begun(*FOUND)
    record.kill()
    count = len(calls())
    with Path("calls.rec").open("ab") as file:  # it was killed within a line
        file.write(b'{"t":3,"of":0,"service":"shop.Sh')
    found = at.json("replay", "calls.rec", *AGAIN)
    assert (found["calls"], found["others"]) == (count, {})


def test_a_second_recorder_does_not_write_to_the_file_of_the_first(at: Tool, shop: Server) -> None:
    record = Record(at, shop.address, "calls.rec", "--method", "find")
    record.begun(*FOUND)
    said = at.fails(2, "record", "--calls", shop.address, "calls.rec", "--for", "5")
    assert said == "'calls.rec' is there already: it is not overwritten"
    Path("link.rec").symlink_to("elsewhere.rec")
    assert "is there already" in at.fails(2, "record", "--calls", shop.address, "link.rec", "--for", "5")
    assert not Path("elsewhere.rec").exists()
    record.end()
    assert at.json("replay", "calls.rec", *AGAIN)["calls"] == len(calls())


def test_ctrl_c_leaves_a_summary_of_what_has_ended(recorded: Tool) -> None:
    """A oneway call, which has ended when it is sent, and one that lasts."""
    head, of_shop, first, *_ = lines()
    note = first | {"method": "note", "agent": "books", "arguments": {"text": "again"}}
    slow = first | {"method": "slow", "arguments": {"seconds": 20}}
    del note["result"], slow["result"]
    Path("long.rec").write_text("".join(json.dumps(each) + "\n" for each in (head, of_shop, note, slow)))
    process = recorded.process("replay", "long.rec", *AGAIN, "--json")
    notes = ("call", "shop.Shop.notes", "--at", "books")
    assert eventually(lambda: "again" in recorded.well(*notes))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, b"mf: interrupted\n")
    found = json.loads(out)
    assert (found["calls"], found["same"], found["others"], found["given_up"]) == (1, 1, {}, 1)


def test_ctrl_c_ends_a_replay_of_calls(recorded: Tool) -> None:
    rewritten(lambda each: each.update(t=each["t"] + 100) if each.get("method") == "item" else None)
    assert interrupted(recorded, "replay", "changed.rec", "--again", "*") == (130, b"mf: interrupted\n")


def test_calls_of_a_server_in_cpp_are_recorded_and_made_again(tool: Tool, peers: Peers) -> None:
    program = str(BUILD / "tests" / "interop" / "interop-server")
    server = peers.run([program, "--room", "north", "--listen", "tcp://127.0.0.1:0"], MF_PEER_ACCESS="")
    tool.at(server.address)
    record = Record(tool, server.address, "calls.rec", "--agents", "north")
    record.begun("call", "interop.Shapes.in1_out1", '{"a": 2}', "--at", "north")
    tool.well("call", "interop.Shapes.in2_out1", '{"a": [1, 2], "b": 3}', "--at", "north")
    record.until("in2_out1")
    record.end()
    last = calls()[-1]
    assert (last["arguments"], last["result"], last["agent"]) == ({"a": [1, 2], "b": 3}, [6, 3], "north")
    found = tool.json("replay", "calls.rec", "--again", "interop.Shapes.*", "--speed", "0", "--results")
    assert (found["calls"], found["same"], found["others"]) == (len(calls()), len(calls()), {})


def test_calls_are_made_through_a_controller_and_a_relay(
    recorded: Tool, peers: Peers, controller: Server, registered: Server
) -> None:
    relay = peers.relay(controller.address, "--to", "127.0.0.0/8")
    with mf.Client(relay.address, wait_for_server=PATIENCE) as client:
        client.describe("shop.Shop", agent="maps", deadline=PATIENCE)
    assert registered.address not in (controller.address, relay.address)
    for where in (controller.address, relay.address):
        found = recorded.json("replay", "calls.rec", *AGAIN, "--results", "--where", where)
        assert (found["same"], found["others"]) == (len(calls()) - 2, {})


def test_a_recording_too_large_to_be_held_is_read_while_it_is_called(
    recorded: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mf_tools.call_replay.HELD", 0)
    found = recorded.json("replay", "calls.rec", *AGAIN, "--open", "1")
    assert (found["calls"], found["others"]) == (len(calls()) - 2, {})

    def change(each: dict[str, Any]) -> None:
        if each.get("method") == "item":
            each["arguments"] = {"title": 7}

    rewritten(change)
    assert "shop.Shop.item: " in recorded.fails(2, "replay", "changed.rec", *AGAIN)


def test_calls_to_replicas_are_left_out(tool: Tool, peers: Peers) -> None:
    controller = peers.controller()
    ledger = peers.ledger(controller.address)
    tool.at(controller.address)
    with mf.Client(controller.address, wait_for_server=PATIENCE) as client:
        client.describe("ledger.Ledger", deadline=PATIENCE)
    record = Record(tool, ledger.address, "calls.rec", "--service", "ledger.*")
    record.begun("call", "ledger.Ledger.entries")
    record.end()
    with Path("calls.rec").open("a") as file:
        add = {"method": "add", "arguments": {"entry": "again"}}
        file.write(
            json.dumps({key: each for key, each in (calls()[0] | add).items() if key != "result"}) + "\n"
        )
    found = tool.json("replay", "calls.rec", "--again", "*", "--speed", "0", "--results")
    assert (found["calls"], found["others"]) == (len(calls()) - 1, {})
    assert found["left_out"] == {"to replicas": 1}
    assert tool.well("call", "ledger.Ledger.entries") == "[]\n"
