"""Topics, recordings, flexible messages and leads."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool

PATIENCE = 60
SIZE = '"size":{"width":1.0,"height":1.0,"kind":"book"}'
ITEM = f'{{"id":"5","title":"x","price":1.0,{SIZE},"marks":[],"tongue":"en"}}'
SEA = '{"title":"The sea","count":3}'


@pytest.fixture
def at(tool: Tool, registered: Server, controller: Server) -> Tool:
    """At the controller of a shop."""
    del registered
    return tool.at(controller.address)


def said(process: "subprocess.Popen[bytes]") -> str:
    """Standard output of a process that ends by itself, and well."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.decode()


def test_earlier_messages_of_a_topic_are_lines(at: Tool) -> None:
    assert at.well("sub", "Sales", "books", "-n", "1") == f"books {SEA}\n"
    found = at.json("sub", "shop.Sales", "-n", "1")
    assert (found["agent"], found["sequence"], found["value"]) == ("books", 1, json.loads(SEA))
    assert found["time"].startswith("20")


def test_a_subscription_ends_in_time(at: Tool) -> None:
    assert at.well("sub", "shop.News", "--for", "0.1") == ""


def test_what_is_published_arrives_in_order(at: Tool) -> None:
    subscriber = at.process("sub", "shop.News", "-n", "2")
    more = ITEM.replace('"5"', '"6"')
    at.well("pub", "shop.News", "--wait", "30", given=f"{ITEM}\n{more}\n")
    assert said(subscriber).splitlines() == [ITEM, more]


def test_a_message_that_is_none_of_the_topic_ends_with_2(at: Tool) -> None:
    assert "message 1: " in at.fails(2, "pub", "shop.Sales", "--agent", "books", '{"titel": ""}')
    assert "has agents: say which" in at.fails(2, "pub", "shop.Sales", SEA, "--wait", "0")
    assert "has no agents" in at.fails(2, "pub", "shop.News", ITEM, "--agent", "x", "--wait", "0")


def test_a_publisher_without_subscribers_says_so(at: Tool) -> None:
    said = at.fails(4, "pub", "shop.News", ITEM, "--wait", "0.05")
    assert said == "no subscriber has come within 0.05 s; nothing was published"


def test_a_topic_is_published_by_a_file_and_without_a_controller(at: Tool) -> None:
    Path("news.json").write_text(at.well("describe", "shop.News", "--raw"))
    address = f"unix:{at.folder}/news.sock"
    publisher = at.process(
        "pub", "shop.News", ITEM, "--like", "news.json", "--listen", address, "--wait", "30", "-w", address
    )
    while not Path("news.sock").exists():
        assert publisher.poll() is None
    assert at.well("sub", "shop.News", "-n", "1", "-w", address) == f"{ITEM}\n"
    said(publisher)


def test_a_recording_is_played_again(at: Tool, registered: Server) -> None:
    at.well("record", "shop.Sales", "sales.rec", "-n", "1")
    head, message = map(json.loads, Path("sales.rec").read_text().splitlines())
    assert (head["topic"], message) == ("shop.Sales", {"t": 0.0, "agent": "books", "value": json.loads(SEA)})
    assert Path("sales.rec").stat().st_mode & 0o777 == 0o600
    assert "is there already" in at.fails(2, "record", "shop.Sales", "sales.rec", "-n", "1")

    with Path("sales.rec").open("a") as file:
        file.write('{"t": 0.01, "agent": "maps", "value": {"title": "A map", "count": 1}}\n{"t": 0.02, "ag')
    subscriber = at.process("sub", "shop.Sales", "maps", "-n", "1")
    at.well("replay", "sales.rec", "--speed", "0", "--wait", "30")
    assert "published 2" in at.err
    assert said(subscriber) == 'maps {"title":"A map","count":1}\n'
    del registered


def test_a_recording_is_load_and_adapts_to_the_topic_as_it_is_now(at: Tool, registered: Server) -> None:
    del registered
    at.well("record", "shop.Sales", "load.rec", "-n", "1")
    head, _ = Path("load.rec").read_text().splitlines()
    old = json.loads(head)
    for key in ("descriptor", "annex"):  # of a version that had one more field
        old[key] = old[key].replace(" title string\n", " title string\n shelf string\n")
    older = [
        {"t": number, "agent": "maps", "value": {"title": "A map", "shelf": "north", "count": number}}
        for number in range(3)
    ]
    Path("old.rec").write_text("\n".join(map(json.dumps, (old, *older))) + "\n")
    subscriber = at.process("sub", "shop.Sales", "maps", "-n", "3")
    at.well("replay", "old.rec", "--speed", "0", "--wait", "30")
    assert re.fullmatch(r"published 3, [\d,]+ a second\n", at.err)
    assert said(subscriber) == "".join(f'maps {{"title":"A map","count":{number}}}\n' for number in range(3))
    assert "message 1: Sold, at byte 17: `shelf` is not a field" in at.fails(
        2, "replay", "old.rec", "--now", "--wait", "0"
    )

    with Path("load.rec").open("a") as file:
        file.write('{"t":0,"agent":"maps","value":{"title":1}}\n')
    assert "message 2: " in at.fails(2, "replay", "load.rec", "--wait", "0", "--speed", "0")
    assert "published" not in at.err


def test_a_recording_that_is_none_is_refused(at: Tool) -> None:
    Path("none.rec").write_text("{}\n")
    assert "is no recording" in at.fails(3, "replay", "none.rec")
    at.well("record", "shop.Sales", "bad.rec", "-n", "1")
    with Path("bad.rec").open("a") as file:
        file.write("nonsense\n")
    assert "line 3 (at byte " in at.fails(3, "replay", "bad.rec", "--wait", "0")
    with Path("bad.rec").open("r+") as file:
        text = file.read().replace("nonsense", '{"t":0,"agent":"a","value":{"title":1}}')
        file.seek(0)
        file.write(text)
    assert "message 2: " in at.fails(2, "replay", "bad.rec", "--wait", "0", "--now")


def test_a_flexible_message_is_sent_and_received(at: Tool) -> None:
    receiver = at.process("recv", "north", "tag=input", "-n", "1", "--group", "all")
    while '"north"' not in at.well("groups", "--json"):
        assert receiver.poll() is None
    assert at.json("groups", "all") == [{"name": "north", "groups": ["all"]}]
    assert at.json("send", "north", "tag=input", '{"data": [1, 2.5], "more": {"a": null}}')["copies"] == 1
    assert json.loads(said(receiver)) == {"tag": "input", "data": [1, 2.5], "more": {"a": None}}


def test_a_flexible_message_to_nobody_ends_with_a_line(at: Tool) -> None:
    assert at.fails(4, "recv", "south", "-n", "1", "--for", "0.05").startswith("0 of 1 messages came within")
    assert "'x y=1' is no attribute" in at.fails(2, "send", "north", "x y=1")
    assert "no JSON" in at.fails(2, "send", "north", "{" * 1000)


def test_a_command_runs_while_its_process_leads(at: Tool) -> None:
    script = 'test "$MF_LEAD_EPOCH" -gt 0 && echo led; exit 7'
    first = at.process("lead", "nightly", "--", "sh", "-c", script)
    out, _ = first.communicate(timeout=PATIENCE)
    assert (out, first.returncode) == (b"led\n", 7)


def test_a_lead_that_is_free_is_not_waited_for(at: Tool) -> None:
    process = at.process("lead", "weekly", "--wait", "60", "--", "echo", "led")
    assert said(process) == "led\n"


def test_one_waits_while_another_leads(at: Tool) -> None:
    first = at.process("lead", "nightly")
    assert first.stdout is not None
    assert first.stdout.readline().startswith(b"leads nightly, epoch ")
    waiting = at.process("lead", "nightly", "--wait", "0.3")
    _, err = waiting.communicate(timeout=PATIENCE)
    assert (waiting.returncode, err) == (4, b"mf: another process has led nightly for 0.3 s\n")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
