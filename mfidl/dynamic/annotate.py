"""F6. Labels for all bytes of a value (labels.py), up to the fault that the codec finds."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from mf.codec.failure import CodecError
from mf.codec.limits import DEFAULT_LIMITS, Limits
from mfidl import model
from mfidl.dynamic import labels_archive
from mfidl.dynamic.codec import coded, decode, schema_of, violation
from mfidl.dynamic.errors import DecodeError, Violation
from mfidl.dynamic.labels import EndOfLabelsError, Labels, alone
from mfidl.dynamic.schema import Schema
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
    error = broken = None
    try:
        broken = violation(schema, type_, decode(schema, type_, data, tier, limits))
    except DecodeError as failure:
        error = failure
    found: list[Annotation] = []

    def note(start: int, end: int, path: str, meaning: str, type_: str, value: str) -> None:
        if start < end:
            found.append(Annotation(start, data[start:end], path, meaning, type_, value))

    made = coded(schema, type_, tier)
    limit = len(data) if error is None else error.offset
    with suppress(CodecError, EndOfLabelsError):  # the codec has said what is wrong
        alone(Labels(data, made.name, limit, note, labels_archive.whole), made.codec.shape)
    assert all(one.offset + len(one.data) == two.offset for one, two in pairwise(found))
    return Annotated(found, error, broken)
