"""F5. The descriptor of a service, topic or type: one canonical text of all that decides its bytes; and its
fingerprint.

    service sf1.search.Index
     per collection string
     method query
      params febird
       terms list<string>
      results febird
       value list<sf1.search.Hit>
      throws sf1.search.NoSuchCollection
     method touch
      oneway
      params memcpy
       doc u32
     method put
      replicated one_hop
      params memcpy
      params_stream bytes
      results memcpy
      results_stream sf1.search.Version
    type sf1.search.Hit struct febird
     doc u32
    type sf1.search.Rank enum u8 closed
     bm25 0
    type sf1.search.Field flags u16
     title 0
    type sf1.search.Value union febird
     number 1: f64
    type sf1.search.Config struct archive
     name 1: string
    type sf1.search.Geo struct custom

    topic sf1.search.Additions
     per collection string
     value sf1.search.Hit

One space a level, a line feed behind every line, UTF-8. Lines that do not apply are left out (`per`,
`oneway`, `throws`, and `results` of a oneway method). Aliases are expanded, names are full, methods and
throws keep their order (it is on the wire), types of the closure are sorted by full name, members of enums
and flags by number, and what has its number on the wire (alternatives, fields of an archive) by it.
Constraints, defaults, earlier names, documents, deadlines and batch sizes are not part of it: they change no
byte.
"""

import hashlib
from collections.abc import Iterable, Iterator

from mfidl import model
from mfidl.plan.reach import Reach


class Descriptors:
    """Of the services, topics and types of a program whose structs are planned. What they say of a declared
    type is written once.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._written: dict[str, str] = {}

    def service(self, service: model.Service) -> str:
        lines = [f"service {service.full_name}"]
        if service.agent is not None:
            lines.append(f" per {service.agent.name} {model.spell(service.agent.type)}")
        types: list[model.Type] = [] if service.agent is None else [service.agent.type]
        for method in service.methods:
            lines += _method(method)
            types += types_of(method)
        return self._with_types(lines, types)

    def topic(self, topic: model.Topic) -> str:
        lines = [f"topic {topic.full_name}"]
        types: list[model.Type] = [topic.type]
        if topic.agent is not None:
            lines.append(f" per {topic.agent.name} {model.spell(topic.agent.type)}")
            types.append(topic.agent.type)
        lines.append(f" value {topic.type.full_name}")
        return self._with_types(lines, types)

    def type(self, kind: model.Named) -> str:
        """For values that carry its fingerprint."""
        return self._with_types([f"value {kind.full_name}"], [kind])

    def _with_types(self, lines: list[str], types: Iterable[model.Type]) -> str:
        return joined(lines) + "".join(map(self._type, self._reach.of(types)))

    def _type(self, name: str) -> str:
        if name not in self._written:
            self._written[name] = joined(type_lines(self._reach.declared[name]))
        return self._written[name]


def joined(lines: Iterable[str]) -> str:
    """A line feed behind every line."""
    return "".join(f"{line}\n" for line in lines)


def fingerprint(descriptor: str) -> bytes:
    """The first 16 bytes of the SHA-256 of a descriptor."""
    return hashlib.sha256(descriptor.encode("utf-8")).digest()[:16]


def _method(method: model.Method) -> list[str]:
    lines = [f" method {method.name}"]
    if method.oneway:
        lines.append("  oneway")
    if method.replicated is not None:
        lines.append(f"  replicated {method.replicated}")
    lines += _implicit("params", method.params)
    if method.param_stream is not None:
        lines.append(f"  params_stream {model.spell(method.param_stream.type)}")
    if not method.oneway:
        lines += _implicit("results", method.results)
    if method.result_stream is not None:
        lines.append(f"  results_stream {model.spell(method.result_stream.type)}")
    return [*lines, *(f"  throws {error.full_name}" for error in method.throws)]


def types_of(method: model.Method) -> Iterator[model.Type]:
    """Of parameters, results, streams and errors, in this order."""
    for struct in (method.params, method.results):
        yield from (field.type for field in struct.fields)
    for stream in (method.param_stream, method.result_stream):
        if stream is not None:
            yield stream.type
    yield from method.throws


def _implicit(word: str, struct: model.Struct) -> list[str]:
    return [f"  {word} {struct.tier.value}", *(f"   {f.name} {model.spell(f.type)}" for f in struct.fields)]


def type_lines(declaration: model.Declaration, *, as_written: bool = False) -> list[str]:
    """What descriptors say of one declared type. `as_written`: with its fields in the order of the schema."""
    match declaration:
        case model.Struct():
            head = f"type {declaration.full_name} {declaration.kind.value} {declaration.tier.value}"
            numbered = declaration.tier is model.Tier.ARCHIVE
            return [head, *_members(declaration.fields, numbered, as_written)]
        case model.Union():
            head = f"type {declaration.full_name} union {declaration.tier.value}"
            return [head, *_members(declaration.alternatives, True, as_written)]
        case model.Enum():
            openness = "open" if declaration.open else "closed"
            head = f"type {declaration.full_name} enum {declaration.base.scalar.value} {openness}"
            members = sorted(declaration.members, key=lambda member: member.number)
            return [head, *(f" {member.name} {member.number}" for member in members)]
        case model.Flags():
            head = f"type {declaration.full_name} flags {declaration.base.scalar.value}"
            bits = sorted(declaration.members, key=lambda member: member.bit)
            return [head, *(f" {member.name} {member.bit}" for member in bits)]
        case model.Alias():
            raise AssertionError("aliases are expanded before planning")


def _members(fields: tuple[model.Field, ...], numbered: bool, as_written: bool) -> list[str]:
    """By place, or, where the number is on the wire, by number and with it."""
    if not numbered:
        return [f" {field.name} {model.spell(field.type)}" for field in fields]
    ordered = fields if as_written else sorted(fields, key=lambda field: field.number or 0)
    return [f" {field.name} {field.number}: {model.spell(field.type)}" for field in ordered]
