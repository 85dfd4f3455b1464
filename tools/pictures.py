"""Draws the pictures of docs/pictures: `python -m tools.pictures` writes them anew.

Layouts come from the compiler, the flows of replicated messages from the traces that tests of both languages
assert (tests/vectors/replicated/flows.json), and the flows of a call and of a topic from the tables below.
Colours are those of templates/picture, light or dark as the reader's screen is.
"""

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

from mfidl.compiler import analyse
from mfidl.explain import explain
from mfidl.explain.svg import Picture, document, pictures
from mfidl.semantics.loading import Texts

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
FLOWS = ROOT / "tests/vectors/replicated/flows.json"
_MARGIN = 16
_TOP = 30  # of the boxes with the names
_BOX = 30
_STEP = 36  # from one message to the next
_LETTER = 7.9
_HEAD = 8  # of an arrow

_SCHEMA = """module sf1;
struct Place { x: f64; y: f64; floor: u8; }
struct Posting { doc: u32; field: u16; weight: f32; where: Place; }
struct Hit { doc: u32; title: string; positions: list<u32>; }
@tier(archive) struct Page { 1: url: string; 2: text: string; 4: read: timestamp; }
"""


@dataclass(frozen=True, slots=True)
class Message:
    """From one column to another; `answers` are dashed."""

    source: str
    to: str
    text: str
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """What a column does, written beside its line."""

    at: str
    text: str


Step = Message | Note

CALL: tuple[Step, ...] = (
    Message("caller", "client", 'look_up("apple")'),
    Message("client", "server", "BIND service, agent, method"),
    Message("server", "client", "BOUND route 0", answers=True),
    Note("client", "once for a connection; from here on each call is one frame each way"),
    Message("client", "server", "REQUEST route 0, id 1, deadline"),
    Message("server", "servant", "look_up"),
    Message("servant", "server", "17", answers=True),
    Message("server", "client", "REPLY id 1, OK", answers=True),
    Message("client", "caller", "17", answers=True),
)
TOPIC: tuple[Step, ...] = (
    Message("reader 1", "relay", "subscribe books"),
    Message("relay", "publisher", "subscribe books"),
    Message("reader 2", "relay", "subscribe books"),
    Note("relay", "one subscription at the publisher serves both readers"),
    Message("publisher", "relay", "message 1"),
    Message("relay", "reader 1", "message 1"),
    Message("relay", "reader 2", "message 1"),
    Message("publisher", "relay", "messages 2 to 9"),
    Message("relay", "reader 1", "messages 2 to 9"),
    Note("relay", "the queue of reader 2 is full: the relay drops the oldest"),
    Message("relay", "reader 2", "gap 2 to 5, then 6 to 9"),
)


def flow(title: str, columns: tuple[str, ...], steps: tuple[Step, ...], column: int = 190) -> Picture:
    """A sequence of messages from top to bottom, each an arrow between the lines of two columns."""
    place = {name: _MARGIN + 60 + at * column for at, name in enumerate(columns)}
    height = _TOP + _BOX + _STEP * (len(steps) + 1)
    pieces = [_column(name, x, height, f"hue{at % 6}") for at, (name, x) in enumerate(place.items())]
    pieces.insert(0, f'<text class="said title" x="{_MARGIN}" y="18">{escape(title)}</text>\n')
    for at, step in enumerate(steps):
        y = _TOP + _BOX + _STEP * (at + 1)
        pieces.append(_arrow(step, place, y) if isinstance(step, Message) else _note(step, place, y))
    width = max(place.values()) + 60 + _MARGIN
    return Picture(
        title, f"{title}: {words(steps)}", max(width, _widest(steps, place)), height + 12, "".join(pieces)
    )


def words(steps: tuple[Step, ...]) -> str:
    """The same as text, for screen readers."""
    said = (
        f"{each.source} to {each.to}: {each.text}" if isinstance(each, Message) else f"({each.text})"
        for each in steps
    )
    return "; ".join(said)


def _widest(steps: tuple[Step, ...], place: dict[str, int]) -> float:
    ends = [place[each.at] + 14 + len(each.text) * 6.6 for each in steps if isinstance(each, Note)]
    return max(ends, default=0) + _MARGIN


def _column(name: str, x: int, height: int, style: str) -> str:
    return (
        f'<path class="dashed" d="M{x} {_TOP + _BOX}V{height}"/>\n'
        f'<rect class="{style}" x="{x - 54}" y="{_TOP}" width="108" height="{_BOX}" rx="4"/>\n'
        f'<text class="middle" x="{x}" y="{_TOP + 20}">{escape(name)}</text>\n'
    )


def _arrow(message: Message, place: dict[str, int], y: int) -> str:
    begin, end = place[message.source], place[message.to]
    back = -_HEAD if end > begin else _HEAD
    dashed = " dashed" if message.answers else ""
    middle = (begin + end) / 2
    half = len(message.text) * _LETTER / 2 + 4
    return (
        f'<path class="arrow{dashed}" d="M{begin} {y}H{end + back}"/>\n'
        f'<path class="head" d="M{end} {y}l{back} -4v8z"/>\n'
        f'<rect class="paper" x="{middle - half:g}" y="{y - 20}" width="{2 * half:g}" height="17"/>\n'
        f'<text class="middle" x="{middle:g}" y="{y - 7}">{escape(message.text)}</text>\n'
    )


def _note(note: Note, place: dict[str, int], y: int) -> str:
    x = place[note.at] + 10
    width = len(note.text) * 6.6 + 4
    return (
        f'<rect class="paper" x="{x - 2}" y="{y - 16}" width="{width:g}" height="20"/>\n'
        f'<text class="said soft" x="{x}" y="{y - 2}">{escape(note.text)}</text>\n'
    )


def flows() -> dict[str, tuple[Step, ...]]:
    """The steps of each pattern of replicated messages, by the pattern's name."""
    traces: dict[str, list[tuple[str, str, str]]] = json.loads(FLOWS.read_text("utf-8"))
    return {
        name: tuple(Message(source, to, kind, answers=kind in ("Ack", "Given")) for source, to, kind in trace)
        for name, trace in traces.items()
    }


def drawn() -> dict[str, str]:
    """The text of each file of docs/pictures."""
    analysis = analyse(["sf1.mfidl"], (), Texts({"sf1.mfidl": _SCHEMA}))
    assert analysis.program is not None
    found = {"layouts": document(list(pictures(explain(analysis.program))))}
    found["call"] = document([flow("A call", ("caller", "client", "server", "servant"), CALL, 250)])
    readers = ("publisher", "relay", "reader 1", "reader 2")
    found["topic"] = document([flow("A topic through a relay", readers, TOPIC)])
    for name, steps in flows().items():
        found[f"replicated-{name}"] = document([flow(name, ("client", "a", "b", "c"), steps, 150)])
    return {f"{name}.svg": text for name, text in found.items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    files = drawn()
    for old in FOLDER.glob("*.svg"):
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
