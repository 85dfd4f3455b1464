"""The table of the conformance suite: what every client must observe of every server, in every way.

A column is a client (`CLIENTS`), a server (`SERVERS`) or a way (`WAYS`): an entry there, and in processes.py
how it is started. A new one is run with all rows at once. A client is a program that reads steps from its
standard input, and answers each with a line of JSON; a server prints its address.

A row (`ROWS`) is a shape: steps, and what is observed at each. A step is "verb agent argument...
key=value...", where `deadline` and `idle` are milliseconds and other keys are metadata. A new verb is a
branch of cpp/client.cpp and a method of the same name of programs/blocking.py and awaiting.py. Before each
row the logs are cleared; a row that is broken somewhere logs in `blue`.

What is observed does not depend on the wall clock: values, counts, failures by code, execution and declared
fields, and in which order handlers met what they log. The messages of failures are in the words of each
language: `Says` names the parts that all must have, and `PEER` in it is the address of the server. In the way
`denied` the steps of each row are taken, and each call of them must be denied.

The suite runs the cells of `cover()`, which combine every two of client, server and way, and all cells with
MF_CONFORMANCE=all, as `make test-system` sets it.

A cell that cannot be has its reason in `impossible()`, and one that is known to be broken in `BROKEN`: it is
a strict xfail.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PEER = "{peer}"
ACCEPTED: dict[str, Any] = {"value": None}


@dataclass(frozen=True)
class Client:
    language: str
    command: tuple[str, ...]  # behind the language's program


CLIENTS = {
    "cpp": Client("cpp", ("call",)),
    "blocking": Client("python", ("blocking",)),
    "asyncio": Client("python", ("asyncio",)),
}


@dataclass(frozen=True)
class Server:
    language: str
    kind: str  # of servant


SERVERS = {
    "cpp-plain": Server("cpp", "plain"),
    "cpp-async": Server("cpp", "async"),
    "python-plain": Server("python", "plain"),
    "python-asyncio": Server("python", "async"),
}

WAYS = ("tcp", "tls", "mtls", "denied", "unix", "light", "relay", "relay+tls", "intercepted")
"""`mtls`: the server demands certificates, and its access file allows all that this client calls. `denied`:
the same server, and a client that no line of the file allows anything. `intercepted`: client and server have
an interceptor around all calls that changes nothing."""


@dataclass(frozen=True)
class Cell:
    client: str
    server: str
    way: str

    def __str__(self) -> str:
        return f"{self.client}-{self.way}-{self.server}"

    @property
    def light(self) -> bool:
        return self.way == "light"

    @property
    def knows_clients(self) -> bool:
        return self.way in ("mtls", "denied")

    @property
    def relayed(self) -> bool:
        return self.way.startswith("relay")


def cells() -> Iterator[Cell]:
    """Every client with every server, in every way that there is between the two."""
    for client, of_client in CLIENTS.items():
        for server, of_server in SERVERS.items():
            for way in WAYS:
                if way == "light" and of_client.language != of_server.language:
                    continue
                # What TLS changes is between client and relay, whatever is behind that.
                if way != "relay+tls" or server == "cpp-plain":
                    yield Cell(client, server, way)


def cover() -> list[Cell]:
    """The fewest cells, as a greedy choice finds them, that have every pair of client and server, of client
    and way, and of server and way which any cell has."""

    def pairs(cell: Cell) -> set[tuple[str, str, str]]:
        return {
            ("client and server", cell.client, cell.server),
            ("client and way", cell.client, cell.way),
            ("server and way", cell.server, cell.way),
        }

    left = list(cells())
    missing = {pair for cell in left for pair in pairs(cell)}
    chosen = []
    while missing:
        best = max(left, key=lambda cell: len(pairs(cell) & missing))
        left.remove(best)
        chosen.append(best)
        missing -= pairs(best)
    return chosen


@dataclass(frozen=True)
class Says:
    """A message with these parts."""

    parts: tuple[str, ...]

    def holds(self, message: object, peer: str) -> bool:
        return isinstance(message, str) and all(part.replace(PEER, peer) in message for part in self.parts)


@dataclass(frozen=True)
class OneOf:
    """Where a race decides, what it may decide."""

    choices: tuple[Any, ...]


@dataclass(frozen=True)
class Relayed:
    """What differs where the way is a relay."""

    expected: Any
    otherwise: Any


@dataclass(frozen=True)
class InLight:
    """What differs where caller and handler are in one process."""

    expected: Any
    otherwise: Any


@dataclass(frozen=True)
class Row:
    shape: str
    steps: tuple[tuple[str, Any], ...]


def value(of: object) -> dict[str, Any]:
    return {"value": of}


def refused(why: str, at: int) -> dict[str, Any]:
    return {"error": "Refused", "why": why, "at": at}


def fails(code: str, execution: str, *parts: str) -> dict[str, Any]:
    return {"code": code, "execution": execution, "message": Says(parts)}


def logged(*events: str) -> dict[str, Any]:
    return value(list(events))


CANCELLED = {"code": "CANCELLED"}  # of C++ more is observed; a task of asyncio has no more to say
MISSING = {"error": "Missing", "key": 1 << 40}
# The text of an exception stays in the process.
UNLUCKY = InLight(
    fails("HANDLER_FAILED", "UNKNOWN", "out of luck"),
    otherwise=fails("HANDLER_FAILED", "UNKNOWN", "the handler has failed: the log of its server "),
)
OUT_OF_RANGE = fails(
    "INVALID_ARGUMENT", "NOT_EXECUTED", "conformance.Shapes.twice: ", "6000 is not in -5000..5000"
)
TOO_LATE = fails("DEADLINE_EXCEEDED", "UNKNOWN", "deadline")
# A server lists its agents; a client that asks a controller, as it does through a relay, gets the answer that
# no server has that one.
NO_GREEN = Relayed(
    fails("UNAVAILABLE", "NOT_EXECUTED", "conformance.Shapes for ", '"green"'),
    otherwise=fails("UNKNOWN_AGENT", "NOT_EXECUTED", "conformance.Shapes for ", '"green"'),
)
STOPPED = logged("began", "asked to stop")
TRACE = "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CONTEXT = f"tenant=a other=b {TRACE} authorization=secret"

ROWS = (
    Row(
        "unary",
        (
            ("twice red 21", value(42)),
            ("twice blue 0", value(0)),
            ("twice red 1001", UNLUCKY),
            ("twice red 6000", OUT_OF_RANGE),
            (
                "twice green 1",
                NO_GREEN,
            ),
        ),
    ),
    Row(
        "cached",
        (
            ("forget_all red", ACCEPTED),
            ("kept red 21", value(42)),
            ("kept red 21", value(42)),
            ("kept blue 21", value(42)),
            ("kept red 22", value(44)),
            ("kept red 21", value(42)),
            ("cache red", {"entries": 3, "bytes": 3 * (8 + 8 + 256) + 2 * len("=red") + len("=blue")}),
            ("log red 2", logged("kept 21", "kept 22")),
            ("log blue 1", logged("kept 21")),
            # Errors that are declared are kept here, failures never.
            ("kept red -1", refused("it is negative", -1)),
            ("kept red -1", refused("it is negative", -1)),
            ("kept red 1001", UNLUCKY),
            ("kept red 1001", UNLUCKY),
            ("log red 3", logged("kept -1", "kept 1001", "kept 1001")),
            # What is said beside the parameters may make another answer.
            ("kept red 21 tenant=a", value(42)),
            ("log red 1", logged("kept 21")),
        ),
    ),
    Row(
        "cached for a time",
        (
            ("forget_all red", ACCEPTED),
            ("kept red 31", value(62)),
            ("later red 59", ACCEPTED),
            ("kept red 31", value(62)),
            ("log red 1", logged("kept 31")),
            ("later red 1", ACCEPTED),
            ("kept red 31", value(62)),
            ("log red 1", logged("kept 31")),
        ),
    ),
    Row(
        "forget what was cached",
        (
            ("forget_all red", ACCEPTED),
            *((f"kept {room} {x}", value(2 * x)) for room in ("red", "blue") for x in (41, 42)),
            ("log red 2", logged("kept 41", "kept 42")),
            ("log blue 2", logged("kept 41", "kept 42")),
            ("forget red 41", ACCEPTED),
            *((f"kept {room} {x}", value(2 * x)) for room in ("red", "blue") for x in (41, 42)),
            ("log red 1", logged("kept 41")),
            ("log blue 0", logged()),
            ("forget_agent red", ACCEPTED),
            *((f"kept {room} {x}", value(2 * x)) for room in ("red", "blue") for x in (41, 42)),
            ("log red 2", logged("kept 41", "kept 42")),
            ("log blue 0", logged()),
            ("forget_all red", ACCEPTED),
            ("cache blue", {"entries": 0, "bytes": 0}),
            ("kept blue 41", value(82)),
            ("log blue 1", logged("kept 41")),
        ),
    ),
    Row("oneway", (("oneway red 1 2 3", ACCEPTED), ("log red 3", logged("note 1", "note 2", "note 3")))),
    Row(
        "batch",
        (
            (
                "batch red 1 -2 3 1000 1001",
                {
                    "outcomes": [
                        value(2),
                        refused("it is negative", -2),
                        value(6),
                        MISSING,
                        UNLUCKY,
                    ]
                },
            ),
            ("batch red", {"outcomes": []}),
        ),
    ),
    Row(
        "bulk",
        (
            ("bulk red 1 -2 3", {"outcomes": [value(2), refused("it is negative", -2), value(6)]}),
            ("bulk green 1 2", NO_GREEN),  # its message fails as a whole
            (
                "bulk red 1 6000",
                fails(
                    "INVALID_ARGUMENT", "NOT_EXECUTED", "conformance.Shapes.twice: item 1: ", "6000 is not in"
                ),
            ),
        ),
    ),
    # What an item of a sequence does is over before the next one begins, in messages of two items, too.
    *(
        Row(
            f"ordered {verb}",
            (
                (
                    f"{verb} red 1 2 3 -4 5 6 7",
                    {
                        "outcomes": [
                            *(value(2 * x) for x in (1, 2, 3)),
                            refused("it is negative", -4),
                            *(value(2 * x) for x in (5, 6, 7)),
                        ]
                    },
                ),
                (
                    "log red 14",
                    logged(*(f"{what} {x}" for x in (1, 2, 3, -4, 5, 6, 7) for what in ("put", "done"))),
                ),
            ),
        )
        for verb in ("put", "put_bulk")
    ),
    Row(
        "scatter",
        (
            (
                "scatter red,green,blue 4",
                {
                    "scattered": [
                        {"agent": "red", "outcome": value(8)},
                        {
                            "agent": "green",
                            "outcome": NO_GREEN,
                        },
                        {"agent": "blue", "outcome": value(8)},
                    ]
                },
            ),
            (
                "scatter blue,red -4",
                {
                    "scattered": [
                        {"agent": "blue", "outcome": refused("it is negative", -4)},
                        {"agent": "red", "outcome": refused("it is negative", -4)},
                    ]
                },
            ),
        ),
    ),
    Row(
        "server stream",
        (
            ("count red 20000 20000", {"count": 20000, "sum": 199990000, "end": ACCEPTED}),
            ("count red 0 0", {"count": 0, "sum": 0, "end": ACCEPTED}),
            ("texts red 3 2", {"values": ["aaa", "bbb"], "end": ACCEPTED}),
            (
                "texts red 70000 2",
                {"values": ["aaaaaaaa… 70000", "bbbbbbbb… 70000"], "end": ACCEPTED},
            ),
        ),
    ),
    Row(
        "client stream",
        (
            ("sum red 5 1 2 3", value(11)),
            ("sum red 5", value(5)),
            ("sum_below red 20000", value(199990000)),
            ("first red 3", {"end": value(21), "held back": True}),
        ),
    ),
    Row(
        "both",
        (
            (
                "echo red a bb c*100000",
                {"values": ["red:a", "red:bb", "red:cccc… 100004"], "end": ACCEPTED},
            ),
            ("echo blue", {"values": [], "end": ACCEPTED}),
        ),
    ),
    Row(
        "leave a server stream",
        (("leave_stream red 3", {"values": [0, 1, 2], "end": ACCEPTED}), ("log red 2", STOPPED)),
    ),
    Row(
        "leave a client stream", (("leave_write red 3", ACCEPTED), ("log red 2", logged("began", "cut off")))
    ),
    Row(
        "write after the end",
        (
            (
                "write_after_end red a",
                {
                    "values": ["red:a"],
                    "write": fails(
                        "INVALID_ARGUMENT",
                        "NOT_EXECUTED",
                        "conformance.Shapes.echo: this side has ended its stream",
                    ),
                    "end": ACCEPTED,
                },
            ),
        ),
    ),
    # Other calls of the connection go on while the stream is not read.
    Row(
        "stalled stream",
        (
            (
                "stall red 20000",
                {"first": 0, "meanwhile": value(42), "count": 19999, "sum": 199990000, "end": ACCEPTED},
            ),
        ),
    ),
    # By another thread or task, while this one waits for a value that never comes.
    Row("cancel a reader", (("cancel_reading red", CANCELLED),)),
    Row("cancel", (("cancel_call red", CANCELLED), ("log red 2", STOPPED))),
    # The handler may answer before its caller, whose thread may be its own, has looked.
    Row(
        "cancel in the process",
        (("cancel_call red", OneOf((CANCELLED, value(1)))), ("log red 2", STOPPED)),
    ),
    Row(
        "close the client",
        (
            (
                "close_client blue",
                {"first": 0, "end": fails("CANCELLED", "UNKNOWN", "the client was closed")},
            ),
            ("log blue 2", STOPPED),
        ),
    ),
    Row("deadline", (("linger red deadline=150", TOO_LATE), ("log red 2", STOPPED))),
    Row("deadline on the caller's thread", (("linger red deadline=150", value(1)), ("log red 2", STOPPED))),
    Row("deadline of a stream", (("endless red deadline=150", TOO_LATE), ("log red 2", STOPPED))),
    Row("idle stream", (("idle red idle=80", fails("DEADLINE_EXCEEDED", "UNKNOWN")),)),
    Row(
        "declared error",
        (
            ("twice red -5", refused("it is negative", -5)),
            ("twice red 1000", MISSING),
            (
                "count red 1000 700",
                {"count": 700, "sum": 244650, "end": refused("it breaks", 700)},
            ),
            ("sum red 0 1 1000000001", refused("it is too large", 1000000001)),
            ("echo red a bad", {"values": ["red:a"], "end": refused("it is bad", 0)}),
        ),
    ),
    Row(
        "metadata",
        (
            ("seen red", {"seen": value(["long"]), "reply": "0"}),
            (
                "seen red deadline=5000 tenant=a b=c",
                {"seen": value(["short", "b=c", "tenant=a"]), "reply": "2"},
            ),
            (
                "seen_stream red deadline=5000 tenant=a b=c",
                {"seen": {"values": ["short", "b=c", "tenant=a"], "end": ACCEPTED}, "reply": "2"},
            ),
            (
                "bad_key red",
                fails("INVALID_ARGUMENT", "NOT_EXECUTED", "Tenant", "a-z, 0-9, '.', '_' and '-'"),
            ),
        ),
    ),
    Row(
        "metadata of nested calls",
        (
            (f"relay red {CONTEXT}", {"seen": value(["long", "tenant=a", TRACE]), "reply": None}),
            (
                f"relay red deadline=5000 {CONTEXT}",
                {"seen": value(["short", "tenant=a", TRACE]), "reply": None},
            ),
        ),
    ),
    Row(
        "unreachable",
        (
            (
                "unreachable red deadline=200",
                fails(
                    "UNAVAILABLE",
                    "NOT_EXECUTED",
                    "gave up at the deadline: ",
                    "connect tcp://127.0.0.1:1: connection refused",
                ),
            ),
        ),
    ),
)


WAIT_FOR_THE_CALL = (
    "leave a server stream",
    "leave a client stream",
    "write after the end",
    "stalled stream",
    "cancel a reader",
    "cancel",
    "close the client",
    "deadline",
    "deadline of a stream",
    "idle stream",
)


def impossible(shape: str, cell: Cell) -> str | None:
    """Why there is no such cell."""
    if cell.way == "denied" and shape in WAIT_FOR_THE_CALL:
        return "its client waits for a call that goes on"
    server = SERVERS[cell.server]
    lends_its_thread = cell.light and server.kind == "plain"
    in_process = cell.light and server.language == "cpp"
    reasons = {
        "cancel": (
            (cell.client == "blocking", "a blocking call of Python cannot be cancelled"),
            (in_process, "its row is another"),
            (lends_its_thread, "the handler holds up the loop of its caller, which would cancel it"),
        ),
        "cancel in the process": ((not in_process, "its row is another"),),
        "close the client": ((cell.light, "nothing is between the two that is closed"),),
        "unreachable": (
            (cell.light, "nothing is between the two that cannot be reached"),
            (cell.way == "denied", "it reaches no server that could deny it"),
        ),
        "deadline": ((lends_its_thread, "its row is another"),),
        "deadline on the caller's thread": ((not lends_its_thread, "its row is another"),),
    }
    return next((why for holds, why in reasons.get(shape, ()) if holds), None)


BROKEN: dict[tuple[str, str], str] = {}
"""What a runtime does wrong, by shape and cell."""
