"""R1. The careful reader's doors to archive values: messages or graphs, behind their length or to the end."""

from typing import TYPE_CHECKING, Any

from mf.codec import shape as s
from mf.codec.careful_archive_graph import graph
from mf.codec.careful_archive_message import bounded, message

if TYPE_CHECKING:
    from mf.codec.careful_reader import CarefulReader

Composite = s.Struct | s.Union


def read_embedded(r: "CarefulReader", shape: Composite) -> Any:
    """A message or graph behind its length."""
    with bounded(r, r._length(shortest=True)):
        return read_alone(r, shape)


def read_alone(r: "CarefulReader", shape: Composite) -> Any:
    """A message or graph, to the end."""
    if shape.tables:
        return graph(r, shape)
    return message(r, shape)
