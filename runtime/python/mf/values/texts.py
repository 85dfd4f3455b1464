"""R2. The schema of a file of values beside that of its reader: what one makes of the other's values."""

from typing import Any

from mf.adapt.made import Made
from mf.adapt.transcode import Transcoder, Transcoders, left_out, shared
from mf.codec import shape as s
from mf.codec import texts as of_shape
from mf.codec.lookup import shape_of
from mf.codec.texts import Texts
from mf.core.error import Code
from mf.evolution.plan import plan
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError, building
from mf.values.form import failed

SIDE = "reader's"


def texts_of(kind: Any) -> Texts:
    """Raises TypeError for what no schema declares."""
    shape = shape_of(kind)
    if not isinstance(shape, s.Declared):
        shown = getattr(kind, "__qualname__", None) or str(kind)
        raise TypeError(f"{shown} is no type that a schema declares: a file holds values of such a type")
    return of_shape.texts_of(shape)


def schema_of(texts: Texts, name: str) -> Schema:
    """Of a file's head, which may be hostile. Raises Error(DECODE_ERROR)."""
    try:
        with building():
            found = read(texts.descriptor, texts.annex)
        if found.kind != "value":
            raise SchemaError(f"its descriptor is of a {found.kind}, not of a value")
    except SchemaError as wrong:
        raise failed(name, f"what it says of its schema cannot be read: {wrong}") from None
    return found


def transcoder(name: str, ours: Texts, theirs: Texts, was: str = "") -> Transcoder | None:
    """From the schema of the file `name` to another one; None: all bytes are the same. `was`: the file's name
    of the type, where that is another one. Raises Error(SCHEMA_MISMATCH), DECODE_ERROR for what the file says
    of its schema."""
    if ours.descriptor == theirs.descriptor:
        return None
    other, own = schema_of(theirs, name), _wanted(name, ours)
    if other.name != (was or own.name):
        words = f"a file of {other.name}, not of {was or own.name}"
        raise failed(name, words, Code.SCHEMA_MISMATCH)
    try:
        with building():
            found = _transcoder(own, other)
    except SchemaError as why:
        raise failed(name, str(why), Code.SCHEMA_MISMATCH) from None
    return None if found.is_equal else found


def _transcoder(own: Schema, other: Schema) -> Transcoder:
    made = plan(own, other)
    if made.reason is not None:
        raise SchemaError(made.reason)
    assert made.value is not None
    from_file = Made(other)
    into = Made(own, shared(made.value.pairs, from_file))
    found = Transcoders(from_file, into, SIDE, own_is_f=False).alone(made.value, own.name)
    found.left_out = left_out(made.value.pairs)
    found.prepare()
    return found


def _wanted(name: str, texts: Texts) -> Schema:
    try:
        return read(texts.descriptor, texts.annex)
    except SchemaError as wrong:  # a tier was asked for that the type cannot have
        raise failed(name, f"no schema is as it is asked for: {wrong}", Code.SCHEMA_MISMATCH) from None
