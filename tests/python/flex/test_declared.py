"""Types of schemas in flexible messages: their fingerprints, and values that are known or not."""

from typing import Any

import pytest

import mf
from mf.codec import shape as s
from mf.codec.flex import declared
from mf.codec.flex.declared import Typed, know
from mf.codec.flex.reader import decode
from mf.codec.flex.writer import encode
from mf.codec.texts import annex, descriptor, fingerprint
from mf.controller._generated.mf.controller import Credential, Key, KeyKind
from mfidl import model
from mfidl.compiler import check
from mfidl.plan.annex import Annexes
from mfidl.plan.fingerprint import Descriptors
from mfidl.plan.reach import Reach
from tests.python.codec.generated import SCHEMAS, codecs


@pytest.mark.parametrize(
    "schema", ["wide.mfidl", "shapes.mfidl", "alternatives.mfidl", "custom.mfidl", "json.mfidl"]
)
def test_descriptor_and_annex_of_every_type_are_what_the_compiler_says(schema: str) -> None:
    made = codecs(schema)
    program = check([str(SCHEMAS / schema)], [str(SCHEMAS)]).program
    assert program is not None
    reach = Reach(program.declarations)
    descriptors, annexes = Descriptors(reach), Annexes(reach)
    compared = 0
    for shape in vars(made).values():
        if isinstance(shape, s.Struct | s.Union | s.Custom | s.Enum):
            kind = program.declarations[shape.name]
            assert not isinstance(kind, model.Alias)
            assert descriptor(shape) == descriptors.type(kind.reference), shape.name
            assert annex(shape) == annexes.type(kind.reference), shape.name
            compared += 1
    module = program.requested[0]
    assert compared >= sum(not isinstance(each, model.Alias) for each in module.declarations) > 2


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has met no type of a schema yet."""
    monkeypatch.setattr(declared, "_by_class", {})
    monkeypatch.setattr(declared, "_by_name", {})


KEY = Key(KeyKind.topic, "shop.Sold", "north")


@pytest.mark.usefixtures("unknown")
def test_a_declared_value_comes_as_an_object_where_its_type_is_known() -> None:
    assert decode(encode([KEY, KeyKind.topic])) == [KEY, KeyKind.topic]
    assert type(decode(encode(KeyKind.topic))) is KeyKind


@pytest.mark.usefixtures("unknown")
def test_it_comes_as_its_bytes_where_it_is_not_and_can_be_read_later(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode(KEY)
    monkeypatch.setattr(declared, "_by_name", {})

    value = decode(data)

    assert isinstance(value, Typed)
    assert value.name == "mf.controller.Key"
    assert encode(value) == data  # it can be sent on
    assert value.to(Key) == KEY


@pytest.mark.usefixtures("unknown")
def test_who_knows_the_type_gets_objects_of_it() -> None:
    data = encode(KEY)
    declared._by_name.clear()
    declared._by_class.clear()
    know(Key)
    assert decode(data) == KEY


def test_another_version_of_a_type_is_no_value_of_it() -> None:
    other = Typed("mf.controller.Key", bytes(16), mf.to_bytes(KEY))
    assert decode(encode(other)) == other
    with pytest.raises(mf.Error, match="of another version of that type") as raised:
        other.to(Key)
    assert raised.value.code is mf.Code.SCHEMA_MISMATCH
    with pytest.raises(mf.Error, match=r"not of mf\.controller\.Credential"):
        other.to(Credential)


def test_bytes_that_are_no_value_of_their_type_are_refused_where_they_stand() -> None:
    found = know(Key)
    data = encode(Typed(found.name, found.fingerprint, b"\xff"))
    with pytest.raises(mf.DecodeError) as raised:
        decode(data)
    assert raised.value.offset >= len(data) - 1


def test_a_value_that_its_schema_does_not_allow_is_refused_at_the_sender() -> None:
    with pytest.raises(mf.Error, match=r"key: Key\.name: length 0"):
        encode(Key(KeyKind.topic, "", ""), path="key")


def test_what_no_schema_declares_cannot_be_known() -> None:
    with pytest.raises(TypeError, match="is no type that a schema declares"):
        know(dict)


def test_the_alternatives_of_a_union_travel_as_the_union() -> None:
    made: Any = codecs("alternatives.mfidl")
    unions = [each for each in vars(made).values() if isinstance(each, s.Union)]
    assert unions
    for union in unions:
        kind: Any = union.alternatives[0].type
        known = know(kind)
        assert (known.name, known.fingerprint) == (union.name, fingerprint(union))
