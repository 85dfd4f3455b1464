"""Whole Python trees as the compiler writes them: a change of the generator shows as a difference to read.

MF_REGEN=1 writes them anew. They must also satisfy the project's linter, formatter and strict type checker.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from mfidl.emit.python.layout import docstring

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden" / "python"
PREFIXES = {"search": "generated.code"}  # the rest is generated without --python-package
CASES = sorted(each.name for each in GOLDEN.iterdir() if each.is_dir())


def _schema(case: str) -> Path:
    """Its own, or the one of the C++ tree of that name: 160 message classes need no copy."""
    own = GOLDEN / case / "schema"
    return own if own.is_dir() else GOLDEN.parent / "cpp" / case / "schema"


def _generate(case: str) -> dict[str, str]:
    folder = _schema(case)
    outcome = check([str(each) for each in sorted(folder.rglob("*.mfidl"))], [str(folder)])
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    assert outcome.program is not None
    options = EmitOptions(PREFIXES.get(case, ""), "0")
    return {each.path: each.text for each in generate(outcome.program, options)}


def _checked_in(case: str) -> dict[str, str]:
    out = GOLDEN / case / "out"
    files = (each for each in out.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    return {each.relative_to(out).as_posix(): each.read_text() for each in files}


def _write(case: str, files: dict[str, str]) -> None:
    for path in _checked_in(case).keys() - files.keys():
        (GOLDEN / case / "out" / path).unlink()
    for path, text in files.items():
        target = GOLDEN / case / "out" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_the_one_that_was_read(case: str) -> None:
    files = _generate(case)
    if os.environ.get("MF_REGEN"):
        _write(case, files)
    assert files == _checked_in(case)


@pytest.mark.parametrize("case", CASES)
def test_output_is_the_same_in_every_run(case: str) -> None:
    assert list(_generate(case).items()) == list(_generate(case).items())


CHAIN = """
import chain, sys
from chain._types import *
from mf.codec import shape

value = S399(a=[S398(b={"x": S397()})])
assert chain.S399_CODEC.decode(chain.S399_CODEC.encode(value)) == value
assert chain.T399_CODEC.decode(chain.T399_CODEC.encode(T399())) == T399()
value.a[0].b["x"].a = [S396(a=[S395()])]
deepest = S0(x=3)
wrong = S2(a=[S1(a=[deepest])])
try:
    chain.S2_CODEC.encode(wrong)
except Exception as error:
    assert "S2.a[0].a[0].x: 3 is not in 1..2" in str(error), error
else:
    sys.exit("not refused")
"""


def test_a_long_chain_of_types_costs_neither_stack_nor_time(tmp_path: Path) -> None:
    lines = [f"struct S{at} {{ a: list<S{at - 1}>; b: map<string, S{at - 1}>; }}" for at in range(1, 400)]
    lines += [f"struct T{at} {{ a: T{at - 1}?; b: list<T{at - 1}>; }}" for at in range(1, 400)]
    schema = tmp_path / "chain.mfidl"
    schema.write_text(
        "module chain; struct S0 { x: u32 @range(1..2) = 1; } struct T0 { }\n" + "\n".join(lines)
    )
    outcome = check([str(schema)])
    assert outcome.program is not None, outcome.diagnostics
    for each in generate(outcome.program, EmitOptions()):
        target = tmp_path / "out" / each.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(each.text)
    _python(CHAIN, ROOT / "runtime/python", tmp_path / "out")


def _python(program: str, *path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr


def _run(*command: str, path: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MYPYPATH": path, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_linted_and_formatted(case: str) -> None:
    out = str(GOLDEN / case / "out")
    options = ("--no-cache", "--config", str(ROOT / "pyproject.toml"))
    linted = _run("ruff", "check", *options, out)
    assert linted.returncode == 0, linted.stdout
    formatted = _run("ruff", "format", "--diff", *options, out)
    assert formatted.returncode == 0, formatted.stdout


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy found in the standard library and the runtime, which are most of its work for one tree."""
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_strictly_typed(case: str, checked: Path, tmp_path: Path) -> None:
    out = GOLDEN / case / "out"
    path = ":".join(str(each) for each in (ROOT / "runtime/python", out, GOLDEN / case / "users"))
    options = ("--strict", "--explicit-package-bases", "--cache-dir", str(checked))
    typed = _run("mypy", *options, str(out), path=path, cwd=tmp_path)
    assert typed.returncode == 0, typed.stdout


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_imported_and_used(case: str) -> None:
    out = GOLDEN / case / "out"
    use = Path(__file__).parent / "use_generated.py"
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(use), str(out)],
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'runtime/python'}:{out}:{GOLDEN / case / 'users'}",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 0


DEFAULTS = """
import mf
from defaults import Early, Kind, Late, PlotterClient, PlotterDrawRequest, PlotterFindRequest
from defaults import PlotterPickRequest, PlotterServant, Point

class Plotter(PlotterServant):
    def draw(self, scale, point, points, named, numbers, maybe):
        seen.append((point.x, [each.x for each in points], named["a"].x, list(numbers), maybe and maybe.x))
        point.x = points[0].x = named["a"].x = 77  # light passes by reference: the next call must not see it
        return point
    def find(self, limit, words, near, note):
        if note: raise Early(what=note)
        return [*words, f"{limit} {near.x}"]
    def pick(self, after, count, note): return f"{after} {count} {note}"
    def __init___(self, __slots___): return Kind.__new___
    def _target(self): pass

def calls(where):
    with mf.Client(where) as client:
        plotter = PlotterClient(client)
        plotter.draw(1), plotter.draw(1, maybe=None), plotter.draw(1, Point(x=8))
        [each.value() for each in plotter.draw_bulk([PlotterDrawRequest(1)])]
        assert plotter.__init___(3) is Kind.__new___
        assert plotter.find(words=["a"]) == ["a", "10 1"] and plotter.find(3, words=[]) == ["3 1"]
        assert plotter.pick(None, 3) == "None 3 None" and plotter.pick(4, 5, "n") == "4 5 n"
        assert plotter.pick_bulk([PlotterPickRequest(None, 6)])[0].value() == "None 6 None"
        found = plotter.find_bulk([PlotterFindRequest(words=["b"])])
        assert [each.value() for each in found] == [["b", "10 1"]]
        try: plotter.find(words=[], note="n")
        except Early as error: assert error == Early(3, what="n", at=Point(x=9)), error
        else: raise AssertionError
        try: plotter.find()
        except TypeError as error: assert "words" in str(error)
        else: raise AssertionError

wanted = [(1, [1, 3], 4, [1], 5), (1, [1, 3], 4, [1], None), (8, [1, 3], 4, [1], 5), (1, [1, 3], 4, [1], 5)]
light, server = mf.Light(), mf.Server()
light.offer(Plotter())
server.offer(Plotter())
seen = []
calls(light)
assert seen == wanted, seen
seen = []
with server:
    calls(server.address)
assert seen == wanted, seen
assert Late("x").at == Point(x=9) and Point(__private___=3) != Point()
"""


def test_defaults_that_can_be_changed_are_made_for_each_call() -> None:
    _python(DEFAULTS, ROOT / "runtime/python", GOLDEN / "defaults/out")


STREAMS = """
import asyncio
import mf
from streams import IndexAsyncClient, IndexAsyncServant, IndexClient, IndexServant, IndexSizeRequest
from streams import Posting, Venue

class Plain(IndexServant):
    def scan(self, from_):
        for at in range(from_, from_ + 5): yield Posting(at, 0.5)
    def load(self, into, postings): return sum(each.doc for each in postings)
    def follow(self, names):
        for name in names: yield Posting(len(name))
    def size(self): return 7
    def size_items(self, requests): return [mf.Outcome(at) for at, _ in enumerate(requests)]

class Awaited(IndexAsyncServant):
    async def scan(self, from_):
        for at in range(from_, from_ + 5): yield Posting(at, 0.5)
    async def load(self, into, postings): return sum([each.doc async for each in postings])
    async def follow(self, names):
        async for name in names: yield Posting(len(name))
    async def size(self): return 7
    async def size_items(self, requests): return [mf.Outcome(at) for at, _ in enumerate(requests)]

def values(outcomes): return [each.value() for each in outcomes]

def blocking(index):
    assert [each.doc for each in index.scan(3)] == [3, 4, 5, 6, 7]
    assert index.load("x", (Posting(at) for at in range(4))) == 6
    with index.follow() as both:
        both.write("abc")
        assert next(both) == Posting(3)
        both.done_writing()
        assert list(both) == []
    try: index.load("", [])
    except mf.Error as error: assert error.code is mf.Code.INVALID_ARGUMENT, error
    else: raise AssertionError
    assert values(index.size_batch([IndexSizeRequest()] * 3).results()) == [0, 1, 2]
    assert values(index.size_bulk([IndexSizeRequest()] * 3)) == [0, 1, 2]

async def awaited(index):
    assert [each.doc async for each in index.scan(1)] == [1, 2, 3, 4, 5]
    async def postings():
        for at in range(4): yield Posting(at)
    assert await index.load("x", postings()) == await index.load("x", [Posting(6)]) == 6
    async with index.follow() as both:
        await both.write("abcd")
        assert await anext(both) == Posting(4)
        await both.done_writing()
        assert [each async for each in both] == []
    assert values(await index.size_batch([IndexSizeRequest()] * 3)) == [0, 1, 2]
    assert values(await index.size_bulk([IndexSizeRequest()] * 3)) == [0, 1, 2]
    assert await index.size() == 7

def block(where, venues):
    with mf.Client(where) as client:
        for venue in venues: blocking(IndexClient(client).at(venue))
        assert IndexClient(client).on(venues).size().ok == {venue: 7 for venue in venues}

async def use(where, venues):
    await asyncio.to_thread(block, where, venues)
    async with mf.AsyncClient(where) as client:
        for venue in venues: await awaited(IndexAsyncClient(client).at(venue))
        assert (await IndexAsyncClient(client).on(venues).size()).ok == {venue: 7 for venue in venues}

async def over_connections():
    server = mf.Server()
    server.offer(Plain(), agent=Venue.xetra)
    with server: await use(server.address, [Venue.xetra])
    server = mf.AsyncServer()
    server.offer(Awaited(), agent=Venue.eurex)
    async with server: await use(server.address, [Venue.eurex])

async def in_light():
    light = mf.Light()
    light.offer(Plain(), agent=Venue.xetra)
    light.offer(Awaited(), agent=Venue.eurex)
    await use(light, list(Venue))

asyncio.run(HUB())
"""


@pytest.mark.parametrize("hub", ["over_connections", "in_light"])
def test_streams_batches_and_bulks_run_with_both_kinds_of_servants(hub: str) -> None:
    _python(STREAMS.replace("HUB", hub), ROOT / "runtime/python", GOLDEN / "streams/out")


REQUIRED = """
import copy, dataclasses, pickle
from typing import Annotated

import mf
from required import Chosen, ChoiceItem, Empty, Item, Line, Nothing, Order, Refused, Rows, Shelf, Stock, Usual
from required import EMPTY_CODEC, STOCK_CODEC, USUAL_CODEC

def refuses(make, name):
    try: make()
    except TypeError as error: assert repr(name) in str(error), error
    else: raise AssertionError(name)

refuses(Item, "name")
refuses(lambda: Order(gift_for=None), "item")
refuses(lambda: Order(item="pen"), "gift_for")
refuses(Line, "item")
refuses(Rows, "pair")
refuses(Chosen, "choice")
refuses(Stock, "shop")
refuses(lambda: Shelf(Stock(shop="s")), "next")
refuses(Refused, "reason")
assert Order("n", item="pen", gift_for=None) == Order(note="n", item="pen", gift_for=None, count=1, tags=[])
assert Usual().order.item == "pen" and Usual().line.item == Item("ink")
assert Chosen(ChoiceItem(Item("a"))).usual.name == "pen"
assert USUAL_CODEC.decode(USUAL_CODEC.encode(Usual())) == Usual()
assert EMPTY_CODEC.decode(EMPTY_CODEC.encode(Empty(Nothing()))) == Empty(Nothing())
assert mf.from_bytes(list[Empty], mf.to_bytes([Empty(Nothing())] * 3, list[Empty])) == [Empty(Nothing())] * 3

# Of a map's entry the value may be missing: it is zero then, and its required fields are.
bare = STOCK_CODEC.decode(bytes.fromhex("0a030a0161 12020802 1a0173"))
assert bare == Stock({"a": Item("")}, {2: Line(item=Item(""))}, shop="s"), bare
assert STOCK_CODEC.decode(STOCK_CODEC.encode(bare)) == bare

shelf = Shelf(Stock(shop="s"), None)
shelf.next = shelf
read = mf.from_bytes(Shelf, mf.to_bytes(shelf))
for made in (copy.deepcopy(shelf), pickle.loads(pickle.dumps(shelf)), read):
    assert made.next is made and made.stock == shelf.stock
assert dataclasses.replace(Order(item="a", gift_for="b"), item="c").gift_for == "b"
assert [each.name for each in dataclasses.fields(Order)] == ["note", "item", "gift_for", "count", "tags"]
assert mf.from_json(Order, '{"item":"a","tags":[]}') == Order(item="a", gift_for=None)
"""


def test_required_fields_must_be_given_and_readers_give_them() -> None:
    _python(REQUIRED, ROOT / "runtime/python", GOLDEN / "required/out")


OPTIONALS = """
from optionals import ABSENT_CODEC, FIRSTS_CODEC, PRESENT_CODEC, Absent, Firsts, Nothing, Present

assert Present().list_ == [] and Present().list_ is not Present().list_
assert PRESENT_CODEC.encode(Present()) == bytes.fromhex(PRESENT)
assert FIRSTS_CODEC.encode(Firsts()) == bytes.fromhex(FIRSTS)
assert ABSENT_CODEC.encode(Absent()) == bytes(4) and Present().nothing == Nothing(0)
"""


def test_optionals_have_the_bytes_that_cpp_writes() -> None:
    """An empty default is there; tests/cpp/codec/optionals_test.cpp compares with the same file."""
    folder = GOLDEN.parent / "cpp/optionals"
    given = [
        f'{each.upper()} = "{(folder / each).with_suffix(".hex").read_text().strip()}"'
        for each in ("present", "firsts")
    ]
    _python("\n".join(given) + OPTIONALS, ROOT / "runtime/python", GOLDEN / "optionals/out")


RELOCATED = """
from one.alternatives import Holder as One, HOLDER_CODEC as ONE, ValueText as Text
from two.deep.alternatives import Holder as Two, HOLDER_CODEC as TWO, StoreClient, StoreServant
import mf

assert One is not Two and One() != Two()
assert TWO.decode(ONE.encode(One(v=Text("abc")))).v.value == "abc"

class Store(StoreServant):
    def put(self, v, p, w): return v
    def put_old(self, o): ...
    def fetch(self, h): return h

light = mf.Light()
light.offer(Store())
assert type(StoreClient(mf.Client(light)).put(Two().v)) is type(Two().v)
"""


def test_a_tree_stands_below_any_package(tmp_path: Path) -> None:
    """The same schema below two prefixes, in one process."""
    folder = GOLDEN / "alternatives/schema"
    outcome = check([str(folder / "alternatives.mfidl")], [str(folder)])
    assert outcome.program is not None
    for prefix in ("one", "two.deep"):
        for each in generate(outcome.program, EmitOptions(prefix, "0")):
            target = tmp_path / each.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(each.text)
    assert (tmp_path / "one/py.typed").exists()
    assert (tmp_path / "two/py.typed").exists()
    _python(RELOCATED, ROOT / "runtime/python", tmp_path)


DEPRECATED = """
import warnings
import mf
from alternatives import Old, StoreClient, StoreServant, PlainA, OLD_CODEC

class Store(StoreServant):
    def put(self, v, p, w): return v
    def put_old(self, o): return PlainA(o.x)
    def fetch(self, h): return h

light = mf.Light()
light.offer(Store())
client = StoreClient(mf.Client(light))
warnings.simplefilter("error")
assert OLD_CODEC.decode(OLD_CODEC.encode(Old(3))) == Old(3)  # decoding warns of nothing
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert client.put_old(Old(3)) == PlainA(3)
assert [(str(each.message), each.filename) for each in seen] == [("use put", "<string>")], seen
assert Old.__deprecated__ == "use Holder"
"""


def test_a_deprecated_method_warns_who_calls_it() -> None:
    _python(DEPRECATED, ROOT / "runtime/python", GOLDEN / "alternatives/out")


@pytest.mark.parametrize(
    "text",
    [
        "Short.",
        '"Quoted" from its first letter to its "last"',
        'Three quotes """ and a back\\slash\\',
        " ".join(["word"] * 40),
        "x" * 200,
        "First line.\n\n  - " + "indented " * 20,
        "a" * 101,
        "word " * 20 + "end",
        "Trailing backslash \\",
    ],
)
@pytest.mark.parametrize("indent", [0, 4, 8])
def test_a_doc_comment_becomes_a_docstring_as_the_formatter_has_it(
    text: str, indent: int, tmp_path: Path
) -> None:
    head = "".join(f"{' ' * at}class A:\n" for at in range(0, indent, 4))
    module = tmp_path / "doc.py"
    module.write_text(head + docstring(text, indent))
    spaces: dict[str, object] = {}
    exec(module.read_text(), spaces)
    formatted = _run(
        "ruff", "format", "--no-cache", "--diff", "--config", str(ROOT / "pyproject.toml"), str(module)
    )
    assert formatted.returncode == 0, formatted.stdout
    tree = ast.parse(module.read_text())
    for _ in range(0, indent, 4):
        assert isinstance(tree.body[0], ast.ClassDef)
        tree.body = tree.body[0].body
    assert (ast.get_docstring(tree) or "").split() == text.split()
