"""What a user reads when a value or its bytes are wrong: one Error with method, field, offset and reason."""

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.limits import Limits
from mf.codec.lookup import codec_of as codec_of_shape
from tests.python.codec.directly import unchecked
from tests.python.codec.generated import Given, codec_of, codecs

SCHEMA = "shapes.mfidl"


def _types() -> Any:
    __import__("vectors.shapes")
    import sys

    codecs(SCHEMA)
    return sys.modules["vectors.shapes._types"]


def _codec(name: str) -> Any:
    return codec_of(SCHEMA, f"vectors.shapes.{name}")


def _refused(function: Any, *arguments: Any) -> mf.Error:
    with pytest.raises(mf.Error) as caught:
        function(*arguments)
    return caught.value


@pytest.mark.parametrize(
    ("terms", "limit", "message"),
    [
        (["a"], 5000, "vectors.shapes.Index.query: limit: 5000 is not in 1..1000"),
        (["a"], "10", "vectors.shapes.Index.query: limit: expected u32, got '10'"),
        (["a"], 1.5, "vectors.shapes.Index.query: limit: expected u32, got 1.5"),
        (["a"], -1, "vectors.shapes.Index.query: limit: -1 does not fit in u32 (0 to 4294967295)"),
        (
            ["a"],
            1 << 32,
            "vectors.shapes.Index.query: limit: 4294967296 does not fit in u32 (0 to 4294967295)",
        ),
        ("a", 1, "vectors.shapes.Index.query: terms: expected a list, got 'a'"),
        (["a", 3], 1, "vectors.shapes.Index.query: terms[1]: expected str, got 3"),
        (["\ud800"], 1, "vectors.shapes.Index.query: terms[0]: text with a lone surrogate at 0"),
        (None, 1, "vectors.shapes.Index.query: terms: expected a list, got None"),
    ],
)
def test_a_wrong_argument_is_named(terms: Any, limit: Any, message: str) -> None:
    error = _refused(_codec("Index.query.params").encode, Given(terms=terms, limit=limit))
    assert (error.code, error.execution) == (mf.Code.INVALID_ARGUMENT, mf.Execution.NOT_EXECUTED)
    assert error.message == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc": None}, "Hit.doc: expected u32, got None"),
        ({"score": "high"}, "Hit.score: expected f32, got 'high'"),
        ({"score": 1e39}, "Hit.score: 1e+39 does not fit in f32"),
        ({"title": b"raw"}, "Hit.title: expected str, got b'raw'; its method decode makes a str"),
        ({"positions": [1, 2, -3]}, "Hit.positions[2]: -3 does not fit in u32 (0 to 4294967295)"),
        ({"positions": {"a": 1}}, "Hit.positions: expected a list, got {'a': 1}"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    fields = {"doc": 1, "score": 1.0, "title": "t", "positions": [1], **change}
    assert _refused(_codec("Hit").encode, _types().Hit(**fields)).message == message


NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("shape", "value", "words"),
    [
        (s.TIMESTAMP, NOW, "; mf.Timestamp.from_datetime makes one"),
        (s.DURATION, datetime.timedelta(1), "; mf.Duration.from_timedelta makes one"),
        (s.DURATION, 1.5, "; mf.Duration.from_seconds makes one"),
        (s.BYTES, "text", "; its method encode makes bytes"),
        (s.UUID, str(uuid.UUID(int=1)), "; uuid.UUID makes one of a text"),
        (s.List(s.STRING), (each for each in "ab"), "; list makes one of it"),
        (s.Set(s.STRING), ["a"], "; set makes one of it"),
        (s.U32, "1", "got '1'"),
    ],
)
def test_what_makes_the_right_value_is_said(shape: s.Shape, value: Any, words: str) -> None:
    assert _refused(codec_of_shape(shape).encode, value).message.endswith(words)


def test_a_field_that_is_not_set_is_named() -> None:
    kind: Any = _types().Hit

    class Late(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            self.doc = 1

    words = "it is not set; a derived class has to call the constructor of its base"
    assert _refused(_codec("Hit").encode, Late()).message == f"Hit.score: {words}"
    assert _refused(codec_of_shape(list[kind]).encode, [Late()]).message == f"[0].score: {words}"
    posting = _types().Posting()
    del posting.tf
    assert _refused(_codec("Posting").encode, posting).message == f"Posting.tf: {words}"


class Acting(str):
    """A text that does something when it is written, as another thread could meanwhile."""

    def __new__(cls, text: str, act: Callable[[], object]) -> "Acting":
        made = super().__new__(cls, text)
        made.act = act
        return made

    act: Callable[[], object]

    def encode(self, *_: Any) -> bytes:
        self.act()
        return b"ab"


@pytest.mark.parametrize("act", ["append", "clear"])
def test_a_list_that_changes_while_it_is_written_is_refused(act: str) -> None:
    values: list[Any] = []
    given = ["a", Acting("b", lambda: values.clear() if act == "clear" else values.append("c")), "d"]
    values[:] = given
    texts, words = s.List(s.Optional(s.STRING)), "it was changed while it was written"
    assert _refused(codec_of_shape(texts).encode, values).message == words
    values[:] = given
    held = {1: values}
    assert _refused(codec_of_shape(s.Map(s.U32, texts)).encode, held).message == f"[1]: {words}"


def test_a_map_that_changes_while_it_is_written_is_refused() -> None:
    codec, words = codec_of_shape(s.Map(s.U32, s.STRING)), "it was changed while it was written"
    values: dict[int, str] = {}
    for act in (values.clear, lambda: values.update({9: "x"})):
        values.update({1: Acting("a", act), 2: "b"})
        assert _refused(codec.encode, values).message == words
        values.clear()


def swapped(value: Any) -> Any:
    return b"", type(value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda hit: mf.to_bytes([hit]), r"list does not say what is in it: give list\[Hit\]"),
        (lambda hit: mf.to_bytes({"a": hit}), r"dict does not say what is in it: give dict\[str, Hit\]"),
        (lambda hit: mf.to_bytes(type(hit)), "this is a class, and a value is expected"),
        (lambda hit: mf.from_bytes(*swapped(hit)), "these are bytes, and the type comes first"),
        (
            lambda hit: mf.from_bytes(hit, b""),
            "this is a value of Hit, and a type is expected",
        ),
        (lambda hit: mf.codec_of(hit), "give Hit itself"),
        (lambda hit: mf.codec_of([hit]), "has no codec: expected a type that mfidlc generated"),
    ],
)
def test_a_value_in_place_of_a_type_is_named(call: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call(_types().Hit())


def test_members_and_flags_that_are_none_are_named() -> None:
    posting = _types().Posting(rank=7)
    assert (
        _refused(_codec("Posting").encode, posting).message
        == "Posting.rank: 7 is not a member of vectors.shapes.Rank"
    )
    integers = _types().Integers(a=2)
    assert _refused(_codec("Integers").encode, integers).message == "Integers.a: expected bool, got 2"


def test_a_wrong_length_of_an_array_is_not_made_up_for_by_another() -> None:
    nested = _types().Nested(corners=[1.0], flags=[True, False, True, True])
    assert (
        _refused(_codec("Nested").encode, nested).message
        == "Nested.corners: expected exactly 2 elements, got 1"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "Hit.doc, at byte 0: the bytes end inside a number"),
        ("01 0000803f 00 11 01020304050607", "Hit.positions, at byte 7: 8 bytes expected, 7 left"),
        ("8000 0000803f 00 00", "Hit.doc, at byte 0: a number is not in its shortest form"),
        ("8080808010 0000803f 00 00", "Hit.doc, at byte 0: 4294967296 does not fit in its type"),
        ("01 0000803f 02 c328 00", "Hit.title, at byte 6: text is not UTF-8"),
        ("01 0000803f 09 6161", "Hit.title, at byte 5: length 9, but 2 bytes left"),
        (
            "01 0000803f 00 fcffffff3f",
            "Hit.positions, at byte 6: 4294967295 elements need at least 4294967295 bytes, 0 left",
        ),
        ("01 0000803f 00 00 00", "Hit, at byte 7: 1 byte after the end of the value"),
    ],
)
def test_damaged_bytes_are_located(data: str, message: str) -> None:
    error = _refused(_codec("Hit").decode, bytes.fromhex(data))
    assert (error.code, error.message) == (mf.Code.DECODE_ERROR, message)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("limit", 0, "Bounded.limit: 0 is not in 1..1000"),
        ("terms", ["", "a"], "Bounded.terms[0]: length 0 is not in 1..8"),
        ("terms", ["\u20ac\u20ac\u20ac"], "Bounded.terms[0]: length 9 is not in 1..8"),
        ("terms", ["a"] * 5, "Bounded.terms: length 5 is not in 0..4"),
        ("weight", float("nan"), "Bounded.weight: nan is not finite"),
        ("scores", {"": 0.5}, "Bounded.scores['']: length 0 is not in 1.."),
        ("scores", {"a": 1.5}, "Bounded.scores['a']: 1.5 is not in 0.0..1.0"),
    ],
)
def test_constraints_hold_before_a_send_and_after_a_decode(field: str, value: Any, message: str) -> None:
    codec, bounded = _codec("Bounded"), _types().Bounded(limit=1, scores={"a": 1.0})
    assert codec.decode(codec.encode(bounded)) == bounded
    setattr(bounded, field, value)
    sent = _refused(codec.encode, bounded)
    assert (sent.code, sent.message) == (mf.Code.INVALID_ARGUMENT, message)

    received = _refused(codec.decode, unchecked(codec.shape, bounded))
    assert received.code is mf.Code.INVALID_ARGUMENT
    assert received.message.partition(": ")[2] == message.partition(": ")[2]


def _deep(levels: int) -> Any:
    tree = _types().Tree(value=0)
    for _ in range(levels - 1):
        tree = _types().Tree(value=0, next=tree)
    return tree


def test_sixty_four_levels_pass_and_sixty_five_do_not() -> None:
    codec = _codec("Tree")
    # The innermost tree has two empty containers, which are a level of their own.
    assert codec.decode(codec.encode(_deep(63))) == _deep(63)
    assert _refused(codec.encode, _deep(64)).message.endswith("nested deeper than 64")
    encoded = bytes([0, 0, 0, 1]) * 64 + bytes([0, 0, 0, 0])
    refused = _refused(codec.decode, encoded)
    assert (refused.code, "nested deeper than 64" in refused.message) == (mf.Code.DECODE_ERROR, True)


def test_a_value_that_contains_itself_is_refused() -> None:
    tree = _types().Tree(value=0)
    tree.next = tree
    assert _refused(_codec("Tree").encode, tree).message.endswith("nested deeper than 64")


def test_a_decoded_value_stays_within_its_budget() -> None:
    codec = _codec("Lists").within(Limits(decoded=10_000))
    lists = _types().Lists(hits=[_types().Hit() for _ in range(100)])
    data = _codec("Lists").encode(lists)
    assert _codec("Lists").decode(data) == lists
    refused = _refused(codec.decode, data)
    assert refused.code is mf.Code.DECODE_ERROR
    assert "memory" in refused.message


def test_items_without_bytes_are_bounded() -> None:
    codec = _codec("Nothing")
    assert len(codec.decode_all(b"", 65_536)) == 65_536
    assert "more than 65536" in _refused(codec.decode_all, b"", 65_537).message


def test_a_few_bytes_do_not_become_millions_of_empty_items() -> None:
    """Each inner list is three bytes on the wire, and 65,536 empty structs in memory."""
    nothing = codec_of(SCHEMA, "vectors.shapes.Nothing").shape
    codec = codec_of_shape(s.List(s.List(nothing))).within(Limits(decoded=2_000_000))
    assert codec.decode(b"\x02\x03\x00") == [[_types().Nothing()] * 3, []]
    refused = _refused(codec.decode, b"\x64" + b"\x80\x80\x04" * 100)
    assert isinstance(refused, mf.DecodeError)
    assert refused.fault is mf.Fault.BUDGET_EXCEEDED


@pytest.mark.parametrize("keys", [["b", "a"], ["a", "a"]])
def test_keys_must_ascend(keys: list[str]) -> None:
    data = bytearray([len(keys)])
    for key in keys:
        data += bytes([1]) + key.encode() + bytes([0])
    data += bytes(7)
    assert "keys are not strictly ascending" in _refused(_codec("Maps").decode, data).message


def test_results_are_read_from_a_position_on() -> None:
    codec = _codec("Index.query.results")
    first, second = codec.encode([]), codec.encode([_types().Hit(doc=3)])
    data = bytes(8) + first + second + b"\xff\xff"
    assert codec.decode_at(data, 8, 2) == ([[], [_types().Hit(doc=3)]], len(data) - 2)
    error = _refused(codec.decode_at, data, 8, 3)
    assert error.message.startswith("vectors.shapes.Index.query, result: ")


def test_a_wrong_item_of_a_batch_is_named() -> None:
    codec = _codec("Index.query.params")
    data = bytearray(codec.encode_all([Given(terms=["a"], limit=1)] * 9))
    each = len(data) // 9
    data[7 * each + 2] = 0xFF
    error = _refused(codec.decode_all, data, 9)
    assert isinstance(error, mf.DecodeError)
    assert (error.path, error.offset) == ("[7].terms[0]", 7 * each + 2)
    assert error.message.startswith("vectors.shapes.Index.query: [7].terms[0], at byte 30: text is not UTF-8")
    alone = _refused(codec.decode, data[7 * each : 8 * each])
    assert isinstance(alone, mf.DecodeError)
    assert alone.path == "terms[0]"
    data[7 * each + 2 :] = b"a" + b"\xe8\x27" + data[8 * each :]
    assert _refused(codec.decode_all, data, 9).message.startswith(
        "vectors.shapes.Index.query: [7].limit, at byte 31: 5096 is not in"
    )


def test_a_wrong_result_of_a_batch_is_named() -> None:
    codec = _codec("Index.query.results")
    data = bytes(codec.encode_all([[], [_types().Hit(title="a")], []])).replace(b"a", b"\xff")
    for error in (_refused(codec.decode_all, data, 3), _refused(codec.decode_at, b"12" + data, 2, 3)):
        assert isinstance(error, mf.DecodeError)
        assert error.path == "[1].value[0].title"
