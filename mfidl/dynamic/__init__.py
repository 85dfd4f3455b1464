"""F6. Values of any schema without generated code: bytes, JSON and plain Python values, from the descriptor
alone.

    schema = Schema(read.from_bytes(Path("search.desc").read_bytes()))
    data = encode(schema, "sf1.search.Hit", {"doc": 7, "score": 1.5, "title": "t", "positions": [1, 2]})
    value = decode(schema, "Hit", data)
    text = to_json(schema, "Hit", value)
    value = from_json(schema, "Hit", text)
    for each in annotate(schema, "Hit", data).annotations: ...

value.py describes values, names.py the names of types. It was written from the documents (protocol.md section
8, proto.md, json.md), and shares with the Python runtime only the faults and the texts of single values in
JSON, so that each can be checked against the other.
"""

from mf.codec.fault import Fault
from mfidl.dynamic.annotate import Annotated, Annotation, annotate
from mfidl.dynamic.codec import decode, encode, planned_tier
from mfidl.dynamic.decoding import Limits
from mfidl.dynamic.errors import DecodeError, EncodeError, UnknownTypeError
from mfidl.dynamic.json_read import from_json
from mfidl.dynamic.json_write import to_json
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import UNKNOWN, Graph
from mfidl.dynamic.violations import Violation, violation

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
