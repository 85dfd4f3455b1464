"""F6. Model to message. The same program gives the same bytes on every machine: no paths, times or maps."""

from typing import Any

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.messages import MODULE, TYPE, VALUE
from mfidl.descriptor.record import Way

FORMAT = 1


def to_message(program: model.Program) -> pb.Program:
    """All of the program."""
    message = pb.Program(format=FORMAT)
    writer = _Writer(message)
    for module in program.modules:
        message.modules.append(MODULE.write(writer, module))
    return message


class _Writer:
    def __init__(self, message: pb.Program) -> None:
        self.types = _Table(self, TYPE, message.types)
        self.values = _Table(self, VALUE, message.values)


class _Table:
    """Each entry once, after those that it refers to.

    Types that compare equal may differ in the constraints of their elements; entries are compared by their
    encoded bytes. A shared object is visited once: constants may consist of constants, so that the tree of
    their values can be far larger than the schema.
    """

    def __init__(self, writer: _Writer, way: Way, entries: Any) -> None:
        self._writer = writer
        self._way = way
        self._entries = entries
        self._known: dict[bytes, int] = {}
        self._seen: dict[int, int] = {}  # by id: the program outlives the table

    def add(self, thing: model.Type | model.Value) -> int:
        """Its number."""
        number = self._seen.get(id(thing))
        if number is None:
            entry = self._way.write(self._writer, thing)
            number = self._known.setdefault(entry.SerializeToString(deterministic=True), len(self._entries))
            if number == len(self._entries):
                self._entries.append(entry)
            self._seen[id(thing)] = number
        return number
