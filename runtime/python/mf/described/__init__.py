"""R8. Services and topics that no code was generated for, called with JSON (docs/json.md) by what a server
says of them (docs/calls.md, "Without generated code").

    from mf import described

    index = described.Service(client.describe("sf1.search.Index"))
    query = index.methods["query"]
    target = index.target(client).at(index.agent("books"))
    print(query.result_json(target.call(query.info, None, *query.arguments('{"terms": ["sea"]}'))))

The names in `__all__` are the public interface; `Schema` and its parts are data.
"""

from mf.core.description import Description
from mf.described.errors import DescribedError
from mf.described.examples import example
from mf.described.method import DescribedMethod
from mf.described.recordings import CallRecording, RecordedCall, RecordedMessage, Recording
from mf.described.service import Service
from mf.described.topic import Topic
from mf.evolution.reading import Line, line_tree
from mf.evolution.schema import Declared, Field, Fields, Method, Schema
from mf.evolution.types import (
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    SetOf,
    Type,
    spell,
)

__all__ = [
    "ArrayOf",
    "CallRecording",
    "Declared",
    "DescribedError",
    "DescribedMethod",
    "Description",
    "Field",
    "Fields",
    "Line",
    "ListOf",
    "MapOf",
    "Method",
    "Named",
    "OptionalOf",
    "RecordedCall",
    "RecordedMessage",
    "Recording",
    "RefTo",
    "Scalar",
    "Schema",
    "Service",
    "SetOf",
    "Topic",
    "Type",
    "example",
    "line_tree",
    "spell",
]
