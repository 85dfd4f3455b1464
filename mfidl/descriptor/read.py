"""F6. Message to model: the program that a descriptor was made of.

A message may be damaged: any error in it is a `DescriptorError`, and no other exception; undeclared names are
refused here. Spans need the text of the files, which a descriptor does not contain: they are restored for the
modules whose source is given, and are None for the others.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from google.protobuf.message import DecodeError

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.messages import MODULE, TYPE, VALUE
from mfidl.descriptor.record import Way
from mfidl.descriptor.write import FORMAT
from mfidl.source import SourceFile, Span

_DEEPEST = 500  # far above the nesting limit of schemas; functions that walk types recurse

_T = TypeVar("_T")


def from_bytes(data: bytes, sources: Mapping[str, SourceFile] | None = None) -> model.Program:
    """The program in a binary descriptor. `sources`: the files of modules, by the module's name."""
    try:
        message = pb.Program.FromString(data)
    except DecodeError:
        raise DescriptorError("these bytes are not a descriptor") from None
    return from_message(message, sources)


def from_message(message: pb.Program, sources: Mapping[str, SourceFile] | None = None) -> model.Program:
    if message.format != FORMAT:
        raise DescriptorError(f"format {message.format} is unknown; this version reads {FORMAT}")
    reader = _Reader(message)
    modules = []
    for each in message.modules:
        reader.source = (sources or {}).get(each.name)
        modules.append(MODULE.read(reader, each))
    program = model.Program(tuple(modules))
    _check_names(program, reader.types.entries)
    return program


class _Reader:
    """`agents` and `services` are those that were read before; `source` is of the module that is read."""

    def __init__(self, message: pb.Program) -> None:
        self.source: SourceFile | None = None
        self.agents: dict[str, model.Agent] = {}
        self.services: dict[str, model.Service] = {}
        self.unsigned = {
            each.enum.full_name: each.enum.base == pb.U64
            for module in message.modules
            for each in module.declarations
            if each.WhichOneof("kind") == "enum"
        }
        self.types = _Table[model.Type]("type")
        self.types.read(self, TYPE, message.types)
        self.values = _Table[model.Value]("value")
        self.values.read(self, VALUE, message.values)

    def agent(self, full_name: str) -> model.Agent:
        if full_name not in self.agents:
            raise DescriptorError(f"agent `{full_name}` is not declared before its use")
        return self.agents[full_name]

    def span(self, message: pb.Span) -> Span | None:
        if self.source is None:
            return None
        start, end = message.start, message.end
        if not start <= end <= len(self.source.text):
            raise DescriptorError(f"the span from {start} to {end} lies outside of `{self.source.name}`")
        return Span(self.source, start, end)


class _Table(Generic[_T]):
    """Entries are read once, in order, each from earlier ones: damaged ones can neither loop nor recurse."""

    def __init__(self, what: str) -> None:
        self._what = what
        self.entries: list[_T] = []
        self._depths: list[int] = []
        self._depth = 0  # of the entry that is being read

    def read(self, reader: _Reader, way: Way, messages: Iterable[Any]) -> None:
        for each in messages:
            self._depth = 0
            entry = way.read(reader, each)
            if self._depth > _DEEPEST:
                raise DescriptorError(f"a type or value is nested more than {_DEEPEST} levels deep")
            self.entries.append(entry)
            self._depths.append(self._depth)

    def at(self, number: int) -> _T:
        if number >= len(self.entries):
            raise DescriptorError(f"there is no {self._what} {number} before the place that refers to it")
        self._depth = max(self._depth, self._depths[number] + 1)
        return self.entries[number]


def _check_names(program: model.Program, types: Iterable[model.Type]) -> None:
    kinds: dict[str, model.DeclKind] = {}
    for module in program.modules:
        for each in module.declarations:
            if not isinstance(each, model.Alias):
                if each.full_name in kinds:
                    raise DescriptorError(f"`{each.full_name}` is declared twice")
                kinds[each.full_name] = each.reference.kind
    named = [each for each in types if isinstance(each, model.Named)]
    for service in (each for module in program.modules for each in module.services):
        named += [error for method in service.methods for error in method.throws]
    for name in named:
        if kinds.get(name.full_name) is not name.kind:
            raise DescriptorError(f"{name.kind.value} `{name.full_name}` is not declared")
