"""F6. Values of any schema without generated code: bytes, JSON and plain Python values, from the descriptor
alone.

    schema = Schema(read.from_bytes(Path("search.desc").read_bytes()))
    data = encode(schema, "sf1.search.Hit", {"doc": 7, "score": 1.5, "title": "t", "positions": [1, 2]})
    value = decode(schema, "Hit", data)
    text = to_json(schema, "Hit", value)
    value = from_json(schema, "Hit", text)
    for each in annotate(schema, "Hit", data).annotations: ...

value.py describes values, names.py the names of types. The bytes and texts are those of the Python runtime,
whose codecs are made of the program's types (shapes.py, objects.py).
"""

from mf.codec.fault import Fault
from mf.codec.limits import Limits
from mfidl.dynamic.annotate import Annotated, Annotation, annotate
from mfidl.dynamic.codec import decode, encode, from_json, planned_tier, to_json, violation
from mfidl.dynamic.errors import DecodeError, EncodeError, UnknownTypeError, Violation
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import UNKNOWN, Graph

__all__ = [
    "UNKNOWN",
    "Annotated",
    "Annotation",
    "DecodeError",
    "EncodeError",
    "Fault",
    "Graph",
    "Limits",
    "Schema",
    "UnknownTypeError",
    "Violation",
    "annotate",
    "decode",
    "encode",
    "from_json",
    "planned_tier",
    "to_json",
    "violation",
]
