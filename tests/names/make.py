"""Makes the schemas of this folder out of words.txt: `python tests/names/make.py`.

fields.mfidl     every word as a field, a member of an enum, a flag and an alternative of a union
methods.mfidl    every word as a method, and as a parameter
types.mfidl      every word as a type        (not those of the language's own types)
errors.mfidl     every word as an error, and as a field of one
constants.mfidl  every word as a constant
helpers.mfidl    words beside the names that generators make of them: `Index`, `IndexClient`
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent

# No type of a schema can be called like one of the language.
BUILT_IN = {"bool", "string", "bytes", "list", "array", "set", "map", "ref"}

HELPERS = """
struct IndexClient { value: u32; }
struct IndexServant { IndexClient: IndexClient; }
struct IndexAsyncServant { list: list<IndexServant>; }
struct IndexAsyncClient { Self: u8; }
struct IndexAsyncScatter {}
struct IndexScatter {}
struct IndexQueryRequest { terms: list<string> @length(1..3); }
struct IndexStatsResult { IndexStatsResult: u32; }
struct KIndexService {}
struct IndexQuery {}
struct to_string_ {}
struct text { text: string; is_text: bool; }
struct Method { name: string; }
struct Iterator { Iterator: u8; }
struct AsyncIterator { Iterator: Iterator; }
struct AsyncIterable { @required AsyncIterable: u8; }
struct Tree { Tree: list<Tree>; tree: Tree?; named: map<string, Tree>; both: Choice?; }
union Choice { Choice: u32; Kind: string; kind: text; is_kind: f32; of_kind: list<Choice>; }
union Text { text: string @length(1..9); is_text: bool; of_text: list<string @pattern("[a-z]+")>; value: u8; }
union Text_ { visit: u8; value_: u8; Text_: text; set_text: text; text_: u8; text: string; kind: u8; }
enum Kind: u8 { Kind = 0, kind = 1, name = 2, from_name = 3, to_string = 4, print_to = 5, has = 6 }
flags Bits: u8 { Bits, bits, left, right, value, has }
error Failure { what: string; kName: string; clone: bool; raise: bool; message: string; args: string; }
error Error { Failure: u32; }

agent options: string;
service Index per options {
  query(terms: list<string> @length(1..3), options: Text, token: Choice) -> list<text> throws Failure, Error;
  query_batch(requests: Bits, request: Kind, servant: u8, responder: u8) -> Choice;
  query_items(requests: u8) -> u8;
  query_bulk(target_: u8, target: u8, std: u8, mf: u8);
  async_query(Token: u8, methods: u8, violated: u8 @range(1..3));
  query_async(self: u8, IndexClient: IndexClient);
  stats() -> (IndexStatsResult: u8, stats: u8);
  at(agent: u8) -> IndexClient;
  any(service: u8, dispatch: u8);
  on();
  everywhere() -> (value: u32);
  follow(out: u8, names: stream<string @length(1..3)>) -> stream<text> throws Failure;
  follow_batch(responder: stream<Choice>) -> (reader: u8, writer: u8);
  async_follow(request: u8, reader: u8, writer: u8) -> stream<IndexClient>;
  out(out: stream<u8>) -> stream<u8>;
  interfaces(incoming: stream<Kind>);
  iterate(Iterator: u8, AsyncIterator: stream<Iterator>) -> stream<AsyncIterator>;
  gather(self: u8, AsyncIterable: stream<AsyncIterable>) -> AsyncIterable;
  method(token: u8, options: u8 = 1);
  service(method: u8);
  dispatch(incoming: u8) -> text throws Error;
  @oneway target_(value: u8, result: u8);
}
service at { at(at: u8); client(client: u8) -> (client: u8); }
"""


def words() -> list[str]:
    lines = (HERE / "words.txt").read_text().splitlines()
    return list(dict.fromkeys(word for line in lines if not line.startswith("#") for word in line.split()))


def schemas() -> dict[str, str]:
    """The text of each file."""
    every = words()
    unbuilt = [word for word in every if word not in BUILT_IN]
    return {
        "fields.mfidl": _file("fields", _fields(every)),
        "methods.mfidl": _file("methods", _methods(every)),
        "types.mfidl": _file("types", _types(unbuilt)),
        "errors.mfidl": _file("errors", _errors(unbuilt)),
        "constants.mfidl": _file(
            "constants", (f"const {word}: u32 = {i};" for i, word in enumerate(unbuilt))
        ),
        "helpers.mfidl": _file("helpers", [HELPERS.strip()]),
    }


def _file(module: str, lines: Iterator[str] | Sequence[str]) -> str:
    head = f"// Made by tests/names/make.py. Do not edit.\nmodule names.{module};\n\n"
    return head + "\n".join(lines) + "\n"


def _fields(every: Sequence[str]) -> Iterator[str]:
    yield "enum Members: u16 {"
    yield from (f"  {word} = {i}," for i, word in enumerate(every))
    yield "}"
    yield "open enum OpenMembers: u32 {"
    yield from (f"  {word} = {i}," for i, word in enumerate(every))
    yield "}"
    for part, i in enumerate(range(0, len(every), 32)):
        some = every[i : i + 32]
        yield f"struct Fields{part} {{"
        yield from (f"  {word}: {_type(k)};" for k, word in enumerate(some))
        yield "}"
        yield f"struct Fixed{part} {{"
        yield from (f"  {word}: u8;" for word in some)
        yield "}"
        yield f"flags Flags{part}: u64 {{"
        yield from (f"  {word}," for word in some)
        yield "}"
        yield f"union Alternatives{part} {{"
        yield from (f"  {word}: {_type(k)};" for k, word in enumerate(some))
        yield "}"


def _type(i: int) -> str:
    return ("u32", "string", "f64", "list<u16>")[i % 4]


def _methods(every: Sequence[str]) -> Iterator[str]:
    yield "service Calls {"
    yield from (f"  {word}(value: u32);" for word in every)
    yield "}"
    yield "service Parameters {"
    for i in range(0, len(every), 16):
        parameters = ", ".join(f"{word}: {_type(k)}" for k, word in enumerate(every[i : i + 16]))
        yield f"  call_{i // 16}({parameters});"
    yield "}"


def _types(every: Sequence[str]) -> Iterator[str]:
    for i, word in enumerate(every):
        other = every[i - 1]
        yield (
            f"struct {word} {{ {word}: u8; {other}: {_type(i)}; again: list<{word}>; }}",
            f"struct {word} {{ {word}: u8; {other}: f32; }}",
            f"union {word} {{ {word}: u8; {other}: {_type(i)}; }}",
            f"enum {word}: u8 {{ {word} = 0, {other} = 1 }}",
            f"flags {word}: u8 {{ {word}, {other} }}",
        )[i % 5]


def _errors(every: Sequence[str]) -> Iterator[str]:
    for i, word in enumerate(every):
        yield f"error {word} {{ {word}: {_type(i)}; }}"


def main() -> None:
    for name, text in schemas().items():
        (HERE / name).write_text(text)


if __name__ == "__main__":
    main()
