"""What a failure of topics says: in every situation subscribers and publishers of both languages get the same
words, which name the peer that failed, the way to it, and the cause.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, compile_files
from tests.interop.peers import Server
from tests.python.certificates import Authority
from tests.topics.conftest import HERE, Program, Programs
from tests.topics.test_promises import LANGUAGES

PATIENCE = 60.0
SHORT = 200  # milliseconds
NONE_CAME = "no message of events.Additions has come in time: "
NO_ANSWER = NONE_CAME + "no publisher of it was found (the controller at {which} does not answer: {why})"
REFUSED = "connect {at}: connection refused"
FULL = (
    "the subscriber does not keep up: its queue of 2 messages and 8388608 bytes is full, and it asked to be "
    "disconnected then"
)
MAY_NOT = 'this peer may not subscribe to events.Additions for "secret.*"'
Told = tuple[str, str]


class Field:
    """Subscribers of one language, and what they reach."""

    def __init__(self, programs: Programs, folder: Path, language: str) -> None:
        self.programs = programs
        self.folder = folder
        self.language = language

    def publisher(self, controller: str = "") -> Program:
        publisher = self.programs.publisher("cpp", controller)
        publisher.ask("publish books 0 1 10")
        return publisher

    def subscriber(self, address: str, agents: str = "books", *more: str) -> Program:
        return self.programs.subscriber(self.language, address, "Additions", agents, "drop_oldest", 5, *more)

    def hears(self, address: str) -> Program:
        """One that has got the first message."""
        subscriber = self.subscriber(address)
        assert subscriber.ask("take 1") == [["books", 1, 0, 0]]
        return subscriber


def told(subscriber: Program, expected: str) -> Told:
    """What next() raises, behind the messages that wait; asked again until it says what is expected, since
    there are words for the time before that is known."""
    until = time.monotonic() + PATIENCE
    while True:
        code, words = subscriber.ask(f"next {SHORT}")
        if isinstance(words, str) and (expected in words or time.monotonic() > until):
            return code, words


def wrong_port(field: Field) -> tuple[Program, str]:
    return field.subscriber("tcp://127.0.0.1:1"), "tcp://127.0.0.1:1"


def wrong_controller(field: Field) -> tuple[Program, str]:
    return field.subscriber("mf://127.0.0.1:1"), "tcp://127.0.0.1:1"


def wrong_relay(field: Field) -> tuple[Program, str]:
    return field.subscriber("relay://127.0.0.1:1"), "tcp://127.0.0.1:1"


def no_such_topic(field: Field) -> tuple[Program, str]:
    at = field.programs.controller().address.replace("mf://", "tcp://")
    return field.subscriber(at), at


def agent_with_a_typo(field: Field) -> tuple[Program, str]:
    controller = field.programs.controller().address
    field.publisher(controller)
    return field.subscriber(controller, "boks"), ""


def agent_with_a_typo_at_one(field: Field) -> tuple[Program, str]:
    return field.subscriber(field.publisher().address, "boks"), ""


def nothing_new(field: Field) -> tuple[Program, str]:
    return field.hears(field.publisher().address), ""


def publisher_killed(field: Field) -> tuple[Program, str]:
    publisher = field.publisher()
    subscriber = field.hears(publisher.address)
    publisher.process.kill()
    return subscriber, publisher.address


def publisher_closed(field: Field) -> tuple[Program, str]:
    publisher = field.publisher()
    subscriber = field.hears(publisher.address)
    publisher.ask("close")
    return subscriber, publisher.address


def controller_and_publisher_killed(field: Field) -> tuple[Program, str]:
    controller = field.programs.controller()
    publisher = field.publisher(controller.address)
    subscriber = field.hears(controller.address)
    controller.kill()
    publisher.process.kill()
    return subscriber, publisher.address


def relay_killed(field: Field) -> tuple[Program, str]:
    controller = field.programs.controller().address
    field.publisher(controller)
    relay = field.programs.relay(controller)
    subscriber = field.hears(relay.address)
    relay.kill()
    return subscriber, relay.address.replace("relay://", "tcp://")


def name_of_another(field: Field) -> tuple[Program, str]:
    authority = Authority(field.folder)
    shown = authority.issue("DNS:elsewhere.example")
    controller = field.programs.controller().address
    relay = field.programs.relay(
        controller, "--certificate", shown.certificate, "--key", shown.key, scheme="tls"
    )
    return field.subscriber(relay.address, "books", authority.file), relay.address.partition("://")[2]


def another_schema(field: Field) -> tuple[Program, str]:
    schema, stubs = field.folder / "events.mfidl", field.folder / "stubs"
    stubs.mkdir()
    schema.write_text((HERE / "events.mfidl").read_text().replace("doc: u32", "doc: string"))
    assert compile_files([str(schema)], [], Targets(python=str(stubs))).exit is Exit.OK
    others = field.programs.with_stubs(stubs)
    at = others.publisher("python").address
    return field.subscriber(at), at


def full_queue(field: Field, address: str, publisher: Program) -> Program:
    subscriber = field.programs.subscriber(field.language, address, "Additions", "books", "disconnect", 2)
    assert subscriber.ask("next 20000") == ["books", 1]
    subscriber.process.freeze()
    publisher.ask("publish books 1 3000 10000")
    subscriber.process.thaw()
    return subscriber


def disconnected(field: Field) -> tuple[Program, str]:
    publisher = field.publisher()
    return full_queue(field, publisher.address, publisher), publisher.address


def disconnected_by_a_relay(field: Field) -> tuple[Program, str]:
    controller = field.programs.controller().address
    publisher = field.publisher(controller)
    at = field.programs.relay(controller).address
    return full_queue(field, at, publisher), at.replace("relay://", "tcp://")


def closed(field: Field) -> tuple[Program, str]:
    subscriber = field.hears(field.publisher().address)
    subscriber.ask("close")
    return subscriber, ""


def forbidden(field: Field) -> tuple[Program, str]:
    publisher = field.programs.guarded("python", field.programs.controller().address)
    return field.subscriber(publisher.address, "secret.*"), publisher.address


def forbidden_by_a_relay(field: Field) -> tuple[Program, str]:
    relay = guarded_relay(field)
    return field.subscriber(relay.address, "secret.*"), relay.address.replace("relay://", "tcp://")


def guarded_relay(field: Field) -> Server:
    controller = field.programs.controller().address
    field.publisher(controller).ask("publish secret.books 0 1 10")
    return field.programs.guarded("cpp", controller)


def forbidden_by_the_second_relay(field: Field) -> tuple[Program, str]:
    inner = guarded_relay(field).address
    outer = field.programs.relay(inner).address
    at = outer.replace("relay://", "tcp://")
    return field.subscriber(outer, "secret.*"), f"{at}: another relay"


def forbidden_by_a_publisher_behind_relays(field: Field) -> tuple[Program, str]:
    controller = field.programs.controller().address
    field.programs.guarded("python", controller)
    inner = field.programs.relay(controller).address
    outer = field.programs.relay(inner).address
    at = outer.replace("relay://", "tcp://")
    return field.subscriber(outer, "secret.*"), f"relay {at}: another relay: a server"


# The situation; the code, and the words, where {at} is what the situation gives.
SITUATIONS: list[tuple[Callable[[Field], tuple[Program, str]], str, str]] = [
    (wrong_port, "DEADLINE_EXCEEDED", NONE_CAME + REFUSED),
    (
        wrong_controller,
        "DEADLINE_EXCEEDED",
        NO_ANSWER.format(which="mf://127.0.0.1:1", why=REFUSED),
    ),
    (
        wrong_relay,
        "DEADLINE_EXCEEDED",
        NO_ANSWER.format(which="relay://127.0.0.1:1", why=REFUSED),
    ),
    (
        no_such_topic,
        "DEADLINE_EXCEEDED",
        NONE_CAME + "{at}: this server does not offer events.Additions; it offers mf.controller.Controller",
    ),
    (agent_with_a_typo, "DEADLINE_EXCEEDED", NONE_CAME + "no publisher of it was found"),
    (agent_with_a_typo_at_one, "DEADLINE_EXCEEDED", NONE_CAME + "no publisher of it was found"),
    (nothing_new, "DEADLINE_EXCEEDED", NONE_CAME.removesuffix(": ")),
    (publisher_killed, "DEADLINE_EXCEEDED", NONE_CAME + REFUSED),
    (publisher_closed, "DEADLINE_EXCEEDED", NONE_CAME + "{at}: the publisher of events.Additions stops"),
    (controller_and_publisher_killed, "DEADLINE_EXCEEDED", NONE_CAME + REFUSED),
    (relay_killed, "DEADLINE_EXCEEDED", NONE_CAME + REFUSED),
    (
        name_of_another,
        "DEADLINE_EXCEEDED",
        NO_ANSWER.format(
            which="relay+tls://{at}",
            why="connect tls://{at}: the certificate of the server is not for '127.0.0.1'",
        ),
    ),
    (disconnected, "OVERLOADED", "{at}: " + FULL),
    (disconnected_by_a_relay, "OVERLOADED", "{at}: " + FULL),
    (
        another_schema,
        "SCHEMA_MISMATCH",
        "schemas differ from {at}: Additions: field Indexed.doc: u32 here, string there",
    ),
    (closed, "CANCELLED", "the subscriber of events.Additions was closed"),
    (forbidden, "PERMISSION_DENIED", "{at}: " + MAY_NOT),
    (forbidden_by_a_relay, "PERMISSION_DENIED", "relay {at}: " + MAY_NOT),
    (forbidden_by_the_second_relay, "PERMISSION_DENIED", "relay {at}: " + MAY_NOT),
    (forbidden_by_a_publisher_behind_relays, "PERMISSION_DENIED", "{at}: " + MAY_NOT),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("situation", "code", "words"), SITUATIONS, ids=[situation.__name__ for situation, *_ in SITUATIONS]
)
def test_a_subscriber_is_told_who_failed_and_why_in_the_same_words(
    programs: Programs,
    tmp_path: Path,
    language: str,
    situation: Callable[[Field], tuple[Program, str]],
    code: str,
    words: str,
) -> None:
    subscriber, at = situation(Field(programs, tmp_path, language))
    expected = words.format(at=at)
    assert told(subscriber, expected) == (code, expected)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("topic", "agents", "overflow", "words"),
    [
        (
            "Orders",
            "-",
            "drop_newest",
            "topic events.Orders does not allow overflow drop_newest, but block, disconnect",
        ),
        (
            "Additions",
            "eu.b*s",
            "block",
            "'*' matches a whole segment between dots, not a part of one: \"b*s\"",
        ),
        ("Additions", "eu..books", "block", 'a segment between dots is empty: "eu..books"'),
        ("Additions", ".books", "block", 'a segment between dots is empty: ".books"'),
        ("Additions", "eu.*.", "block", 'a segment between dots is empty: "eu.*."'),
    ],
)
def test_what_no_publisher_could_give_is_refused_before_anybody_is_asked(
    programs: Programs, language: str, topic: str, agents: str, overflow: str, words: str
) -> None:
    refused = programs.subscriber(language, "tcp://127.0.0.1:1", topic, agents, overflow, 5)
    assert refused.said() == ["INVALID_ARGUMENT", words]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_publisher_is_told_what_it_may_not(programs: Programs, language: str) -> None:
    publisher = programs.publisher(language)
    assert publisher.ask("try books") is None
    assert publisher.ask("try bo*ks") == [
        "INVALID_ARGUMENT",
        "an agent to publish for has no '*': \"bo*ks\"",
    ]
    publisher.ask("close")
    assert publisher.ask("try books") == [
        "SHUTTING_DOWN",
        "the topics of this process have been closed: nothing of events.Additions is published any more",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_publisher_is_told_which_subscriber_it_has_waited_for_in_vain(
    programs: Programs, language: str
) -> None:
    publisher = programs.publisher(language)
    quick = programs.subscriber("python", publisher.address, "Additions", "*", "drop_newest", 2)
    stopped = programs.subscriber("python", publisher.address, "Additions", "bo.*", "block", 2)
    assert publisher.ask("await Additions 2") is True
    peers = {overflow: (peer, agents) for overflow, peer, agents in publisher.ask("peers")}
    stopped.process.freeze()
    code, words = publisher.ask("late bo.oks 3000 10000 200")
    peer, agents = peers["block"]
    assert agents == "bo.*"
    begin = (
        f'the subscriber of events.Additions at {peer} for "bo.*", which blocks, has had no room until the '
        "deadline: its queue holds 2 of 2 messages and "
    )
    assert (code, words[: len(begin)]) == ("DEADLINE_EXCEEDED", begin)
    assert re.fullmatch(r"200\d\d of 8388608 bytes", words[len(begin) :]), words
    assert peer != peers["drop_newest"][0]
    stopped.process.thaw()
    assert publisher.ask("late bo.oks 3 10 60000") is None
    assert quick.ask("stats")["cut"] == 0


@pytest.mark.parametrize("language", ["cpp", "python"])
def test_who_says_who_it_is_hears_what_others_may_not(
    language: str, programs: Programs, tmp_path: Path
) -> None:
    relay = guarded_relay(Field(programs, tmp_path, "cpp"))
    desk = programs.subscriber(language, relay.address, "Additions", "secret.*", "drop_oldest", 5, "", "desk")
    assert desk.ask("take 1") == [["secret.books", 1, 0, 0]]


@pytest.mark.parametrize("program", ["guarded_relay.cpp", "guarded_publisher.py"])
def test_the_page_shows_the_programs_that_are_tested(program: str) -> None:
    page = (HERE.parents[1] / "docs" / "topics.md").read_text()
    text = (HERE / "programs" / program).read_text().splitlines()
    start = next(number for number, line in enumerate(text) if line.startswith(("#include", "import")))
    assert "\n".join(text[start:]) in page
