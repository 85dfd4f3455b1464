"""What type checkers make of generated Python: nothing in the trees themselves, and every planted misuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mypy import mypy_cache

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "python"
RUNTIME = ROOT / "runtime/python"

TREES = [GOLDEN / case / "out" for case in ("search", "alternatives", "streams", "required")]

# Lines that are right, and then one that is wrong, each in a file of its own.
RIGHT = """
from collections.abc import AsyncIterator, Iterator
from typing import assert_never

import mf
from alternatives import Part, Value, ValueNumber, ValueText
from generated.code.sf1.search import Hit, IndexAsyncClient, IndexClient, IndexQueryRequest, IndexServant
from generated.code.sf1.search import IndexScoreRequest
from required import Item, Order
from streams import IndexAsyncClient as AsyncStreams, IndexAsyncServant as StreamingAsync
from streams import IndexClient as Streams, IndexServant as Streaming
from streams import Posting, Venue


client = IndexClient(mf.Light()).at("books")
hits: list[Hit] = client.query(["one"], 3)
score: float = client.score(1, 2)
parts: Part = Part.title | Part.body
def text_of(value: Value) -> str: return value.value if isinstance(value, ValueText) else ""
order = Order("a note", item="pen", gift_for=None)
streams = Streams(mf.Light()).at(Venue.xetra)

class Blocking(Streaming):
    def scan(self, from_: int) -> Iterator[Posting]: yield Posting(from_)
    def load(self, into: str, postings: Iterator[Posting]) -> int: return sum(each.doc for each in postings)
    def follow(self, names: Iterator[str]) -> Iterator[Posting]: return (Posting(len(name)) for name in names)
    def size(self) -> int: return 1

class Awaited(StreamingAsync):
    async def scan(self, from_: int) -> AsyncIterator[Posting]: yield Posting(from_)
    async def load(self, into: str, postings: AsyncIterator[Posting]) -> int:
        return sum([each.doc async for each in postings])
    async def follow(self, names: AsyncIterator[str]) -> AsyncIterator[Posting]:
        async for name in names: yield Posting(len(name))
    async def size(self) -> int: return 1

sizes_by_venue: dict[Venue, int] = streams.on([Venue.xetra]).size().ok
failures: dict[Venue, mf.Error | mf.DeclaredError] = dict(streams.everywhere().size().failed)
with streams.scan(3) as found:
    docs: list[int] = [each.doc for each in found]
total: int = streams.load("i", [Posting(1)])
with streams.follow() as both:
    both.write("a")
    both.done_writing()
    last: Posting = next(both)
light = mf.Light()
light.offer(Blocking(), agent=Venue.xetra)
light.offer(Awaited(), agent=Venue.eurex)

async def awaited() -> None:
    server = mf.AsyncServer()
    server.offer(Awaited(), agent=Venue.eurex)
    async with server, mf.AsyncClient(server.address) as source:
        await called(AsyncStreams(source).at(Venue.eurex), IndexAsyncClient(source).at("books"))

async def called(streams: AsyncStreams, client: IndexAsyncClient) -> None:
    async with streams.scan() as reader:
        weights: list[float] = [each.weight async for each in reader]
    sent: int = await streams.load("i", [Posting(1)])
    at_venues: dict[Venue, int] = (await streams.on([Venue.xetra]).size()).ok
    async with streams.follow() as two:
        await two.write("a")
        await two.done_writing()
        following: Posting = await anext(two)
    scores: list[mf.Outcome[float]] = await client.score_batch([IndexScoreRequest(1, 2)])
    scores = await client.score_bulk([IndexScoreRequest(1, 2)])
    one: float = await client.score(1, 2)

"""
MISUSES = {
    "an argument left out": "client.score(1)",
    "a field that the result does not have": "client.stats().documentz",
    "a request of another method": "client.score_batch([IndexQueryRequest([])])",
    "a wrong type of an argument": 'client.score("1", 2)',
    "a wrong type of a field": 'Hit(doc="7")',
    "a servant with a wrong result": "class Wrong(IndexServant):\n    def stats(self) -> int: ...",
    "await on a blocking call": "async def wrong() -> None:\n    await client.clear()",
    "a value without its alternative": "value: Value = 1.5",
    "a wrong type of an alternative": 'ValueNumber("1")',
    "an alternative forgotten": "def kind(value: Value) -> None:\n    match value:\n"
    "        case ValueNumber(number): number.hex()\n        case _: assert_never(value)",
    "a flag that there is not": "parts = Part.titel",
    "a number for flags": "parts = 3",
    "a required field left out": 'Order("note", gift_for=None)',
    "a required field left out that is optional": 'Order(item="pen")',
    "a required field by its place": 'Order("note", "pen", gift_for=None)',
    "a plain function for asyncio": "class Wrong(StreamingAsync):\n    def size(self) -> int: ...",
    "a coroutine in a plain servant": "class Wrong(Streaming):\n    async def size(self) -> int: return 1",
    "items with a wrong result": "class Wrong(Streaming):\n    def size_items(self, of: object) -> int: ...",
    "an agent by its text": 'streams.at("xetra")',
    "agents by their numbers": "streams.on([1])",
    "outcomes under the texts of agents": "sizes: dict[str, int] = streams.everywhere().size().ok",
    "values of another type in a stream": 'streams.load("i", ["a"])',
    "a value of another type for a stream": "streams.follow().write(3)",
    "a value of a stream as another type": "number: int = next(streams.scan())",
    "a stream for asyncio in a plain loop": (
        "def wrong(of: AsyncStreams) -> None:\n    for each in of.scan(): ..."
    ),
    "a call for asyncio that is not awaited": (
        "def wrong(of: IndexAsyncClient) -> float:\n    return of.score(1, 2)"
    ),
    "a batch awaited that blocks": "async def wrong() -> None:\n    await client.score_batch([])",
    "a servant of asyncio at a server of threads": "mf.Server().offer(Awaited(), agent=Venue.eurex)",
    "a plain servant at a server of asyncio": "mf.AsyncServer().offer(Blocking(), agent=Venue.xetra)",
    "a client of asyncio for blocking calls": (
        "def wrong(of: mf.AsyncClient) -> Streams:\n    return Streams(of)"
    ),
    "a batch of a method with streams": "streams.scan_batch([])",
}


def _basedpyright(folder: Path, settings: dict[str, object]) -> list[dict[str, object]]:
    """What it finds, as its JSON has it."""
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps({"pythonVersion": "3.11", **settings}))
    ran = subprocess.run(
        [sys.executable, "-m", "basedpyright", "-p", str(project), "--outputjson"],
        capture_output=True,
        text=True,
        timeout=110,
    )
    found: list[dict[str, object]] = json.loads(ran.stdout)["generalDiagnostics"]
    return found


def test_pyright_finds_nothing_in_the_trees(tmp_path: Path) -> None:
    trees = [each / "out" for each in sorted(GOLDEN.iterdir()) if (each / "out").is_dir()]
    found = _basedpyright(
        tmp_path,
        {
            "include": [str(each) for each in trees],
            "typeCheckingMode": "strict",
            "extraPaths": [str(RUNTIME), *map(str, trees), *map(str, GOLDEN.glob("*/users"))],
        },
    )
    assert not found, found


def _planted(folder: Path) -> int:
    """Writes misuse_<n>.py and right.py; the lines before the misuse."""
    for at, line in enumerate(MISUSES.values()):
        (folder / f"misuse_{at}.py").write_text(f"{RIGHT}{line}\n")
    (folder / "right.py").write_text(RIGHT)
    return RIGHT.count("\n")


def _assert_found(places: list[tuple[str, int]], begins: int, report: object) -> None:
    """Every misuse, and nothing beside it."""
    for at, name in enumerate(MISUSES):
        lines = [line for file, line in places if file == f"misuse_{at}.py"]
        assert lines, f"{name}: not found\n{report}"
        assert all(line > begins for line in lines), report
    assert all(file != "right.py" for file, _ in places), report


def test_mypy_finds_every_planted_misuse(tmp_path: Path) -> None:
    begins = _planted(tmp_path)
    path = ":".join(map(str, (RUNTIME, *TREES, tmp_path)))
    files = [each.name for each in sorted(tmp_path.glob("*.py"))]
    report = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache("checkers"), *files],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": path},
        capture_output=True,
        text=True,
        timeout=110,
    ).stdout
    errors = [line.split(":") for line in report.splitlines() if ": error:" in line]
    _assert_found([(each[0], int(each[1])) for each in errors], begins, report)


def test_pyright_finds_every_planted_misuse(tmp_path: Path) -> None:
    begins = _planted(tmp_path)
    paths = [str(each) for each in (RUNTIME, *TREES)]
    found = _basedpyright(
        tmp_path, {"include": [str(tmp_path)], "extraPaths": paths, "typeCheckingMode": "standard"}
    )
    errors = [each for each in found if each["severity"] == "error"]
    places = [(Path(str(each["file"])).name, _line(each)) for each in errors]
    _assert_found(places, begins, errors)


def _line(found: dict[str, object]) -> int:
    at = found["range"]
    assert isinstance(at, dict)
    return int(at["start"]["line"]) + 1
