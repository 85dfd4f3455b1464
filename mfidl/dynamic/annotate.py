"""F6. Labels for all bytes of a value, as the reading layer reports them (decoding.py)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mfidl import model
from mfidl.dynamic.codec import DEFAULT_LIMITS, decode, schema_of
from mfidl.dynamic.decoding import NOTHING, Limits
from mfidl.dynamic.errors import DecodeError
from mfidl.dynamic.json_write import scalar_text
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.violations import Violation, violation
from mfidl.model import Tier


@dataclass(frozen=True, slots=True)
class Annotation:
    """`meaning` is "value", "text", "count", "padding", "tag: field 3 `ttl`, varint" and the like; `type` and
    `value` are texts, "" if there are none.
    """

    offset: int
    data: bytes
    path: str
    meaning: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Annotated:
    """For a valid value all bytes, each in one annotation, in order. Otherwise those before the error.
    `violation`: set if the value violates a constraint of the schema.
    """

    annotations: list[Annotation]
    error: DecodeError | None
    violation: Violation | None


def annotate(
    program: model.Program | Schema,
    type_: str | model.Type,
    data: bytes,
    tier: Tier | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Annotated:
    """Raises only UnknownTypeError."""
    schema = schema_of(program)
    found: list[Annotation] = []

    def listen(start: int, end: int, path: str, meaning: str, of: model.Type | None, value: Any) -> None:
        text = "" if of is None else model.spell(of)
        shown = _shown(schema, of, value)
        found.append(Annotation(start, data[start:end], path, meaning, text, shown))

    error = broken = None
    try:
        broken = violation(schema, type_, decode(schema, type_, data, tier, limits, listen))
    except DecodeError as failure:
        error = failure
        found = [each for each in found if each.offset + len(each.data) <= max(failure.offset, 0)]
    found = [each for each in found if each.data]
    found.sort(key=lambda each: each.offset)
    assert all(one.offset + len(one.data) == two.offset for one, two in pairwise(found))
    return Annotated(found, error, broken)


def _shown(schema: Schema, type_: model.Type | None, value: Any) -> str:
    if value is NOTHING:
        return ""
    if type_ is None:
        return value.hex(" ") if isinstance(value, bytes) else str(value)
    return scalar_text(schema, type_, value)
