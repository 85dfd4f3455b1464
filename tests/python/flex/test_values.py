"""The values of flexible messages: vectors, bounds, what does not travel, and bytes that lie."""

import importlib.util
import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mf
from mf.codec.flex.attributes import decode_attributes, encode_attributes
from mf.codec.flex.declared import Typed
from mf.codec.flex.reader import decode
from mf.codec.flex.writer import encode
from mf.codec.limits import Limits
from tests.python.flex.notation import sorted_maps, value_of, written

VECTORS = Path(__file__).parents[2] / "vectors" / "flex"
VALUES = json.loads((VECTORS / "values.json").read_text("utf-8"))
MESSAGES = json.loads((VECTORS / "messages.json").read_text("utf-8"))
HOSTILE = json.loads((VECTORS / "hostile.json").read_text("utf-8"))
RUNS = int(os.environ.get("MF_FUZZ_RUNS", "0")) or 3000


def named(vectors: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", vectors, ids=[each["name"] for each in vectors])


@named(VALUES)
def test_a_value_has_the_bytes_of_its_vector(vector: dict[str, Any]) -> None:
    assert encode(value_of(vector["value"])).hex() == vector["hex"]


@named(VALUES)
def test_the_bytes_of_a_vector_are_its_value(vector: dict[str, Any]) -> None:
    value = decode(bytes.fromhex(vector["hex"]))

    assert sorted_maps(written(value)) == sorted_maps(vector["value"])


@named(MESSAGES)
def test_a_message_has_the_bytes_of_its_vector_and_is_read_from_them(vector: dict[str, Any]) -> None:
    attributes = {name: value_of(value) for name, value in vector["attributes"].items()}
    assert encode_attributes(attributes).hex() == vector["hex"]
    read = decode_attributes(bytes.fromhex(vector["hex"]))
    assert {name: written(value) for name, value in read.items()} == vector["attributes"]


@pytest.mark.parametrize("kind", ["values", "messages"])
def test_hostile_bytes_are_refused_with_fault_place_and_path(kind: str) -> None:
    read = decode if kind == "values" else decode_attributes
    for vector in HOSTILE[kind]:
        with pytest.raises(mf.DecodeError) as raised:
            read(bytes.fromhex(vector["hex"]))
        error = raised.value
        found = (error.fault.name, error.offset, error.path)
        assert found == (vector["fault"], vector["offset"], vector["path"]), vector["name"]


def test_the_vectors_are_what_their_maker_makes() -> None:
    spec = importlib.util.spec_from_file_location("make_flex_vectors", VECTORS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    for name, text in maker.text_of().items():
        assert (VECTORS / name).read_text("utf-8") == text, name


def test_every_beginning_of_a_vector_is_refused() -> None:
    for vector in VALUES:
        data = bytes.fromhex(vector["hex"])
        for end in range(len(data)):
            with pytest.raises(mf.DecodeError):
                decode(data[:end])


def is_canonical(data: bytes) -> bool:
    """Whether the bytes are a value, which then must be written as they are."""
    try:
        value = decode(data)
    except mf.DecodeError as error:
        if not 0 <= error.offset <= len(data):
            raise
        return False
    assert encode(value) == data
    return True


def test_changed_bytes_are_refused_or_another_value() -> None:
    dice = random.Random(20_261_125)
    vectors = [bytes.fromhex(each["hex"]) for each in VALUES if len(each["hex"]) < 200]
    read = 0
    for _ in range(RUNS):
        data = bytearray(dice.choice(vectors))
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(len(data))] = dice.choice((dice.randrange(256), dice.randrange(20)))
        read += is_canonical(bytes(data))
    assert 0 < read < RUNS


def test_what_is_read_in_one_pass_is_what_the_reader_reads() -> None:
    """Messages of texts, bytes and small integers have a way of their own. `Limits()` leads by the reader."""

    def outcome(*limits: Limits) -> Any:
        try:
            return decode_attributes(data, *limits)
        except mf.DecodeError as refused:
            return (refused.fault, refused.offset, str(refused))

    dice = random.Random(24)
    usual: list[dict[str, Any]] = [
        {"tag": "data", "data": bytes(size), "n": n}
        for size, n in ((0, 0), (1, -128), (127, 127), (128, -1), (16_383, 1), (16_384, 2), (70_000, 3))
    ]
    others: list[dict[str, Any]] = [{}, {"ü": "ä€"}, {"a": 1, "b": 2.0, "c": "x"}]
    whole = [encode_attributes(each) for each in (*usual, *others)]
    refused = taken = 0
    for _ in range(RUNS):
        changed = bytearray(dice.choice(whole))
        for _ in range(dice.randrange(3)):
            at = dice.randrange(min(len(changed), 40)) if changed else 0
            match dice.randrange(3):
                case 0 if changed:
                    changed[at] = dice.randrange(256)
                case 1:
                    changed.insert(at, dice.choice((0, 1, 9, 10, 127, 128, 255)))
                case _:
                    del changed[at:]
        data = bytes(changed)
        found = outcome()
        assert found == outcome(Limits())
        refused += isinstance(found, tuple)
        taken += isinstance(found, dict)
    assert refused > RUNS // 10
    assert taken > RUNS // 10


def test_refusing_what_claims_to_be_large_takes_little_memory() -> None:
    claims = [
        "0dffffffff0f",
        "0effffffff3f",
        "0fffffffff0f",
        "10ffffffff0f",
        "09ffffffff0f",
        "110b01ffffffff0f00",
    ]
    for each in claims:
        with pytest.raises(mf.DecodeError):
            decode(bytes.fromhex(each))
    tracemalloc.start()
    try:
        for each in claims:
            with pytest.raises(mf.DecodeError):
                decode(bytes.fromhex(each))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [
        "0d" + "e807" + "00" * 1000,
        "0e" + "a01f" + "00" * 1000,
        "10" + "64" + "".join(f"03{n:02x}00" for n in range(100)),
    ],
)
def test_what_would_take_more_memory_than_allowed_is_refused(data: str) -> None:
    assert len(decode(bytes.fromhex(data))) >= 100
    with pytest.raises(mf.DecodeError) as raised:
        decode(bytes.fromhex(data), Limits(decoded=10_000))
    assert raised.value.fault is mf.Fault.BUDGET_EXCEEDED


KEYS = st.integers(-(1 << 63), (1 << 64) - 1) | st.text(max_size=8) | st.binary(max_size=8) | st.uuids()
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.uuids()
    | st.integers(-(1 << 63), (1 << 63) - 1).map(mf.Timestamp)
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.lists(st.integers(-(1 << 40), 1 << 40), max_size=300)
        | st.dictionaries(KEYS, inner, max_size=6)
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=200)
@given(ANYTHING)
def test_whatever_is_in_the_set_comes_back_as_it_was(value: Any) -> None:
    data = encode(value)
    read = decode(data)
    assert sorted_maps(written(read)) == sorted_maps(written(value))
    assert encode(read) == data


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_the_one_form_of_their_value(data: bytes) -> None:
    is_canonical(data)


def test_an_array_is_received_without_a_copy_and_aligned() -> None:
    data = encode_attributes({"a": "x", "big": np.arange(1000.0).reshape(10, 100)})
    array = decode_attributes(data)["big"]
    inner = np.frombuffer(data, np.uint8)

    assert np.shares_memory(array, inner)
    assert array.flags.aligned
    assert not array.flags.writeable
    assert array.shape == (10, 100)


@pytest.mark.parametrize(
    ("array", "as_sent"),
    [
        (np.arange(6, dtype=">i4"), [0, 1, 2, 3, 4, 5]),
        (np.asfortranarray(np.arange(6).reshape(2, 3)), [[0, 1, 2], [3, 4, 5]]),
        (np.arange(10)[::3], [0, 3, 6, 9]),
    ],
)
def test_an_array_that_lies_otherwise_is_sent_in_the_one_order(array: Any, as_sent: Any) -> None:
    assert decode(encode(array)).tolist() == as_sent


def test_numbers_of_numpy_are_sent_as_numbers() -> None:
    assert decode(encode([np.float64(1.5), np.int32(7), np.bool_(True)])) == [1.5, 7, True]


def test_a_tuple_comes_as_a_list() -> None:
    assert decode(encode((1, "a"))) == [1, "a"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1}, "data: a value of set does not travel: make it a list"),
        (lambda: 1, "data: a value of function does not travel: code never does"),
        ({"rows": [1, 2, {3}]}, "data['rows'][2]: a value of set does not travel: make it a list"),
        ([[1 << 64]], "data[0][0]: an int of more than 64 bits does not travel"),
        ({1.5: 1}, "data: a key is of float: keys are int, str, bytes or UUID"),
        ({True: 1}, "data: a key is of bool: keys are int, str, bytes or UUID"),
        (
            mf.Duration(1),
            "data: a value of mf.codec.times.Duration does not travel: send its nanoseconds as an int",
        ),
        ("\ud800", "data: a str with half of a surrogate pair does not travel"),
        (np.array([object()]), "data: an array of object does not travel"),
        (object(), "data: a value of object does not travel"),
    ],
)
def test_what_is_outside_of_the_set_is_refused_at_the_sender_with_its_path(value: Any, text: str) -> None:
    with pytest.raises(mf.Error) as raised:
        encode_attributes({"data": value})
    assert raised.value.code is mf.Code.INVALID_ARGUMENT
    assert raised.value.execution is mf.Execution.NOT_EXECUTED
    assert raised.value.message.startswith(text)


def test_a_value_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(mf.Error, match="nested deeper than 64"):
        encode(loop)


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"src": 1}, "'src' is no attribute of a program"),
        ({"dest": 1}, "'dest' is no attribute of a program"),
        ({"": 1}, "has 1 to 255 bytes, not 0"),
        ({"n" * 256: 1}, "has 1 to 255 bytes, not 256"),
        ({"\ud800": 1}, "half of a surrogate pair"),
        ({f"n{n}": n for n in range(257)}, "257 attributes"),
    ],
)
def test_names_that_no_attribute_may_have_are_refused(attributes: dict[str, Any], text: str) -> None:
    with pytest.raises(mf.Error, match=text):
        encode_attributes(attributes)


def test_values_that_python_takes_to_be_equal_have_bytes_of_their_own() -> None:
    assert len({encode(each) for each in (1, True, 1.0, mf.Timestamp(1), "1", b"1", UUID(int=1))}) == 7


def test_a_declared_value_that_nobody_knows_stays_as_it_came() -> None:
    typed = Typed("shop.Basket", bytes(16), b"\1\2")
    assert decode(encode([typed])) == [typed]
