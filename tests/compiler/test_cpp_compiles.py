"""Generated C++ compiles without a warning, whatever a schema's names and whatever its users include before.

ctest compiles, links and runs `kinds`, `words`, `patterns`, `optionals` and the types of the vectors, under
g++ -O2 and under clang with sanitizers (tests/cpp/codec/CMakeLists.txt). Here the syntax of others is
checked: the tree as wide as dCache's messages, the one with every form of method, and tests/names, where
everything is called by a word of C++ or of the generator. What takes long is shared between the compilers.
"""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.compiler.cpp import COMPILERS, ROOT, Command, generate_into, run_all, syntax
from tests.names import make

GOLDEN = ROOT / "tests/compiler/golden/cpp"
NAMES = ROOT / "tests/names"
PRELUDE = NAMES / "prelude.hpp"

# What is compiled as one source, because most of the time goes into headers that each source includes anew.
# Of the trees of names every file comes after the prelude and is there for its names. Of a golden tree each
# file must also include all that it uses: so g++ reads each of its files alone, and clang reads first, in a
# source of its own, what g++ does not read.
_NAMED = {
    "g++ types": ("types.cpp",),
    "g++ others": ("fields.cpp", "helpers.cpp", "constants.cpp"),
    "clang++-19 types": ("errors.hpp", "types.cpp"),
    "clang++-19 others": ("methods.client.hpp", "fields.cpp", "helpers.cpp", "constants.cpp"),
}
_GOLDEN = {
    "g++ messages": ("messages/out/dcache/messages.cpp",),
    "g++ services": ("services/out/shapes/services.cpp",),
    "g++ recursive": ("recursive/out/recursive.cpp",),
    "g++ streams": ("streams/out/streams.cpp",),
    "clang++-19 streams": ("streams/out/streams.cpp",),
    "clang++-19 services": (
        "services/out/shapes/services.cpp",
        "messages/out/dcache/messages.cpp",
        "optionals/out/optionals.cpp",
    ),
    "clang++-19 recursive": ("recursive/out/recursive.cpp",),
}
_M32 = {"kinds": "shapes/kinds.cpp", "shapes": "vectors/shapes.cpp"}
_TIDY = ("shapes/kinds.cpp",)

CASES = ["clang-tidy", *(f"names: {each}" for each in _NAMED), *_GOLDEN]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    named = tmp_path_factory.mktemp("names")
    generate_into(named, sorted(NAMES.glob("*.mfidl")), NAMES)
    commands: dict[str, Command] = {"clang-tidy": _tidy(tmp_path_factory.mktemp("tidy"))}
    for case, files in _NAMED.items():
        source = _joined(named / f"{case}.cpp", [named / "names" / each for each in files])
        # gnu++20 has the macros `linux` and `unix` besides those of the headers.
        options = ("-std=gnu++20", f"-I{named}", "-include", str(PRELUDE))
        commands[f"names: {case}"] = syntax(case.partition(" ")[0], source, *options)
    folder = tmp_path_factory.mktemp("golden")
    for case, files in _GOLDEN.items():
        source = _joined(folder / f"{case}.cpp", [GOLDEN / each for each in files])
        trees = dict.fromkeys(each.partition("/")[0] for each in files)
        paths = [f"-I{GOLDEN / tree / 'out'}" for tree in trees]
        commands[case] = syntax(case.partition(" ")[0], source, *paths)
    return run_all(commands)


def _joined(source: Path, files: Iterable[Path]) -> Path:
    """The text of sources, since clang does not report unused names in included files."""
    text = (each.read_text() if each.suffix == ".cpp" else f'#include "{each}"\n' for each in files)
    source.write_text("".join(text))
    return source


def _tidy(folder: Path) -> Command:
    tree = GOLDEN / "kinds"
    source = folder / "all.cpp"
    source.write_text("".join(f'#include "{tree / "out" / file}"\n' for file in _TIDY))
    config = f"--config-file={ROOT / 'tests/compiler/generated.clang-tidy'}"
    options = (
        "-std=c++20",
        f"-I{ROOT / 'runtime/cpp/include'}",
        f"-I{tree / 'out'}",
        f"-I{tree / 'include'}",
    )
    # On standard error it counts what it passed over in headers of others.
    quiet = 'said=$("$@" 2>/dev/null) || { echo "$said"; exit 1; }'
    return ("sh", "-c", quiet, "sh", "clang-tidy-19", "--quiet", config, str(source), "--", *options)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("case", CASES)
def test_the_compiler_has_nothing_to_say(said: dict[str, str], case: str) -> None:
    assert said[case] == ""


def test_the_schemas_of_names_are_those_of_their_words() -> None:
    for name, text in make.schemas().items():
        assert (NAMES / name).read_text() == text, "run python -m tests.names.make"


@pytest.mark.parametrize("tree", _M32)
def test_layouts_are_the_same_where_a_pointer_has_32_bits(tree: str) -> None:
    if not Path("/usr/include/gnu/stubs-32.h").exists() and not list(
        Path("/usr/include").glob("*/gnu/stubs-32.h")
    ):
        pytest.skip("libc6-dev-i386 is not installed (packaging/apt-test.txt)")
    out = GOLDEN / tree / "out"
    options = ("-m32", "-Wno-conversion", f"-I{out}", f"-I{GOLDEN / tree / 'include'}")
    kernel = ("-idirafter", "/usr/include/x86_64-linux-gnu")  # the headers of Linux are for both
    assert run_all({tree: syntax("g++", out / _M32[tree], *options, *kernel)}) == {tree: ""}


_USES = """
#include "shapes/kinds.hpp"
using shapes::kinds::Coloured;
unsigned f(const Coloured& coloured) { return coloured.colour + coloured.rgb; }
shapes::kinds::Page page();
"""


def test_who_uses_what_is_deprecated_is_told(tmp_path: Path) -> None:
    source = tmp_path / "uses.cpp"
    source.write_text(_USES)
    tree = GOLDEN / "kinds"
    command = syntax("g++", source, f"-I{tree / 'out'}", f"-I{tree / 'include'}", "-Wno-error")
    said = run_all({"": command})[""]
    warnings = [line.partition("warning: ")[2] for line in said.splitlines() if "warning: " in line]
    assert set(warnings) == {
        "‘shapes::kinds::Coloured::rgb’ is deprecated: use color [-Wdeprecated-declarations]",
        "‘Page’ is deprecated: use Document [-Wdeprecated-declarations]",
    }


_DEPRECATED = """
module old;
struct Inner { a: u32 = 1; b: string; }
struct Old {
  inner: Inner @deprecated("use rows");
  given: Inner = { a: 3, b: "" } @deprecated;
  rows: list<Inner> @deprecated;
  pair: array<Inner, 2> @deprecated("gone");
  maybe: Inner? @deprecated;
  at: timestamp @deprecated;
}
@tier(archive) struct Kept { 1: inner: Inner @deprecated; 2: by: map<u32, Old>; }
@tier(archive) struct Node { 1: name: string @length(..9); 2: old: array<ref<Node>?, 5> @deprecated; }
struct Holder { graph: Node?; }
service Archive { keep(a: Old @deprecated, b: Kept) -> (a: Old @deprecated, c: Kept); }
"""

_USES_WHOLE = """
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "old.client.hpp"
#include "old.hpp"
#include "old.server.hpp"
template <class T>
bool travels(const T& value) {
  const auto text = mf::to_json(value);
  return mf::from_bytes<T>(mf::to_bytes(value)).ok() && mf::from_json<T>(text).ok();
}
bool all(const old::Old& one, const old::Kept& other, const old::Holder& third) {
  return travels(one) && travels(other) && travels(third);
}
"""


def test_who_does_not_name_what_is_deprecated_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "old.mfidl").write_text(_DEPRECATED)
    generate_into(tmp_path, [tmp_path / "old.mfidl"], tmp_path)
    (tmp_path / "uses.cpp").write_text(_USES_WHOLE)
    sources = [tmp_path / f"{name}.cpp" for name in ("uses", "old")]
    said = run_all({each.name: syntax("g++", each, f"-I{tmp_path}") for each in sources})
    assert said == {each.name: "" for each in sources}


_USES_STREAMS = """
#include "streams.client.hpp"
#include "streams.server.hpp"
using namespace streams;

class Served final : public IndexServant {
 public:
  void scan(std::uint32_t from, mf::StreamWriter<Posting>& out) override { out.write({.doc = from}); }
  std::uint64_t load(const std::string&, mf::StreamReader<Posting>& postings) override {
    std::uint64_t count = 0;
    for (const Posting& posting : postings) count += posting.doc;
    return count;
  }
  void follow(mf::StreamReader<std::string>& names, mf::StreamWriter<Posting>& out) override {
    while (auto name = names.next()) out.write({.doc = static_cast<std::uint32_t>(name->size())});
  }
  std::uint64_t size() override { return 1; }
  mf::Outcomes<std::uint64_t> size_items(std::span<const IndexSizeRequest> requests) override {
    return IndexServant::size_items(requests);
  }
};
class Later final : public IndexAsyncServant {
 public:
  void scan(IndexScanRequest, mf::StreamWriter<Posting>, mf::Responder<void> responder) override {
    responder.respond({});
  }
  void load(IndexLoadRequest, mf::StreamReader<Posting>, mf::Responder<std::uint64_t> responder) override {
    responder.respond(1U);
  }
  void follow(IndexFollowRequest, mf::StreamReader<std::string>, mf::StreamWriter<Posting>,
              mf::Responder<void> responder) override {
    responder.respond(Closed("no"));
  }
  void size(IndexSizeRequest, mf::Responder<std::uint64_t> responder) override { responder.respond(2U); }
};
std::uint64_t use(const IndexClient& any, const ElementsClient& elements) {
  const auto client = any.at(Venue::xetra);
  auto read = client.scan(5, {.deadline = std::chrono::seconds(1)});
  auto write = client.load("a");
  for (const Posting& posting : read) write.write(posting);
  mf::DuplexStream<std::string, Posting> both = client.follow();
  both.write("a");
  both.done_writing();
  while (auto posting = both.next()) write.write(*posting);
  client.async_scan([](mf::Outcome<mf::StreamReader<Posting>> scan) { (void)scan.value().next(); });
  client.async_scan(mf::CallOptions{}, [](mf::Outcome<mf::StreamReader<Posting>>) {});
  client.async_scan(3, [](mf::Outcome<mf::StreamReader<Posting>>) {});
  client.async_scan(3, {.deadline = std::chrono::seconds(1)}, [](mf::Outcome<mf::StreamReader<Posting>>) {});
  elements.async_flags([](mf::Outcome<mf::StreamReader<bool>>) {});
  elements.async_times([](mf::Outcome<mf::StreamReader<mf::Timestamp>>) {});
  mf::DuplexStream<mf::Graph<Person>, mf::Graph<Person>> people = elements.at(7).people();
  mf::Graph<Person> person;
  people.write(person);
  for (const auto& each : any.on({Venue::xetra, Venue::eurex}).size()) {
    if (!each.outcome.ok()) return 0;
  }
  return write.finish();
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_streams_and_typed_agents_are_used_as_the_page_says(tmp_path: Path, compiler: str) -> None:
    source = tmp_path / "uses.cpp"
    source.write_text(_USES_STREAMS)
    assert run_all({"": syntax(compiler, source, f"-I{GOLDEN / 'streams/out'}")}) == {"": ""}


_DEFAULTS = """
#include "sharded.client.hpp"
void use(const sharded::ReadClient& client) {
  client.async_read("k", [](mf::Outcome<std::int32_t>) {});
  client.async_read("k", {.deadline = std::chrono::seconds(1)}, [](mf::Outcome<std::int32_t>) {});
  const auto second = std::chrono::seconds(1);
  const sharded::Pair pair{.a = 2};
  client.async_read("k", 5, second, sharded::Mode::two, {"a"}, {}, [](mf::Outcome<std::int32_t>) {});
  client.async_read("k", 5, second, sharded::Mode::two, {}, pair, {}, [](mf::Outcome<std::int32_t>) {});
  client.async_one([](mf::Outcome<void>) {});
  client.async_one(5U, [](mf::Outcome<void>) {});
  client.async_one(mf::CallOptions{.deadline = std::chrono::seconds(1)}, [](mf::Outcome<void>) {});
}
"""


def test_an_asynchronous_call_may_leave_out_what_a_blocking_one_may(tmp_path: Path) -> None:
    (tmp_path / "sharded.mfidl").write_text(
        "module sharded; enum Mode: u8 { one = 1, two = 2 } struct Pair { a: i32; b: string; }"
        "service Read { read(key: string, limit: u32 = 10, from: duration = 1s, mode: Mode = Mode.one,"
        '  texts: list<string> = ["a", "b"], pair: Pair? = { a: 1, b: "x" }) -> i32; one(limit: u32 = 4); }'
    )
    generate_into(tmp_path, [tmp_path / "sharded.mfidl"], tmp_path)
    (tmp_path / "uses.cpp").write_text(_DEFAULTS)
    said = run_all({each: syntax(each, tmp_path / "uses.cpp", f"-I{tmp_path}") for each in COMPILERS})
    assert said == dict.fromkeys(COMPILERS, "")


def test_a_client_includes_nothing_of_a_server(tmp_path: Path) -> None:
    source = tmp_path / "client.cpp"
    source.write_text('#include "streams.client.hpp"\n')
    command = [*syntax("g++", source, f"-I{GOLDEN / 'streams/out'}"), "-M"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "streams.hpp" in made
    assert not [word for word in made.split() if ".server.hpp" in word or "/mf/server/" in word]


_EXISTING = """
module here;
struct x { y: u32; }
@cpp.type("there.hpp", "there::Point")
@tier(memcpy) struct Point { x: f32; value: f32 = 1.0; at__: f32 @cpp.name("mPrinter"); }
struct Line { from: Point; to: list<Point>; }
"""

_THERE = "namespace there { struct Point { float x, value, mPrinter; }; }\n"


def test_members_of_existing_types_are_called_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "here.mfidl").write_text(_EXISTING)
    (tmp_path / "there.hpp").write_text(_THERE)
    generate_into(tmp_path, [tmp_path / "here.mfidl"], tmp_path)
    source = tmp_path / "here.cpp"
    assert run_all({source.name: syntax("g++", source, f"-I{tmp_path}")}) == {source.name: ""}


def test_as_many_members_as_one_likes_compile(tmp_path: Path) -> None:
    # clang refuses folds of more than 256 terms.
    members = [f"f{i}: {('u32', 'string', 'list<u8>', 'string?')[i % 4]}" for i in range(300)]
    numbered = "; ".join(f"{number}: {each}" for number, each in enumerate(members, 1))
    (tmp_path / "many.mfidl").write_text(
        f"module many; struct Fields {{ {'; '.join(members)}; }} error Bad {{ {'; '.join(members)}; }}"
        f"@tier(archive) struct Numbered {{ {numbered}; }}"
        f"@tier(memcpy) struct Fixed {{ {'; '.join(f'f{i}: u32' for i in range(300))}; }}"
        f"service Wide {{ call({', '.join(members)}) -> ({', '.join(members)}) throws Bad; }}"
    )
    generate_into(tmp_path, [tmp_path / "many.mfidl"], tmp_path)
    said = run_all({"": syntax("clang++-19", tmp_path / "many.cpp", f"-I{tmp_path}")})
    assert said == {"": ""}


def test_types_and_codecs_include_neither_asio_nor_threads(tmp_path: Path) -> None:
    source = tmp_path / "types.cpp"
    source.write_text('#include "dcache/messages.hpp"\n')
    command = [*syntax("g++", source, f"-I{GOLDEN / 'messages/out'}"), "-M"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "dcache/messages.hpp" in made
    assert not [word for word in made.split() if "asio" in word or word.endswith(("/thread", "/mutex"))]


def test_the_compilers_are_there() -> None:
    assert [name for name in (*COMPILERS, "clang-tidy-19") if shutil.which(name) is None] == []
