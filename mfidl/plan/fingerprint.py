"""F5. The descriptor of a service: one canonical text of all that decides its bytes; and its fingerprint.

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
    type sf1.search.Hit struct febird
     doc u32
    type sf1.search.Rank enum u8 closed
     bm25 0

One space a level, a line feed behind every line, UTF-8. Lines that do not apply are left out (`per`,
`oneway`, `throws`, and `results` of a oneway method). Aliases are expanded, names are full, methods and
throws keep their order (it is on the wire), types of the closure are sorted by full name and members of enums
by number. Constraints, defaults, documents, deadlines and batch sizes are not part of it: they change no
byte.
"""

import hashlib
from collections.abc import Iterable

from mfidl import model
from mfidl.plan.layout import Declared


def describe(service: model.Service, declared: Declared) -> str:
    """The descriptor of a service whose structs are planned."""
    lines = [f"service {service.full_name}"]
    if service.agent is not None:
        lines.append(f" per {service.agent.name} {model.spell(service.agent.type)}")
    for method in service.methods:
        lines.append(f" method {method.name}")
        if method.oneway:
            lines.append("  oneway")
        lines += _implicit("params", method.params)
        if not method.oneway:
            lines += _implicit("results", method.results)
        lines += [f"  throws {error.full_name}" for error in method.throws]
    for name in sorted(_closure(service, declared)):
        lines += _type(declared[name])
    return "".join(line + "\n" for line in lines)


def fingerprint(descriptor: str) -> bytes:
    """The first 16 bytes of the SHA-256 of a descriptor."""
    return hashlib.sha256(descriptor.encode("utf-8")).digest()[:16]


def _implicit(word: str, struct: model.Struct) -> list[str]:
    return [f"  {word} {struct.tier.value}", *(f"   {f.name} {model.spell(f.type)}" for f in struct.fields)]


def _type(declaration: model.Declaration) -> list[str]:
    match declaration:
        case model.Struct():
            head = f"type {declaration.full_name} {declaration.kind.value} {declaration.tier.value}"
            return [head, *(f" {field.name} {model.spell(field.type)}" for field in declaration.fields)]
        case model.Enum():
            openness = "open" if declaration.open else "closed"
            head = f"type {declaration.full_name} enum {declaration.base.scalar.value} {openness}"
            members = sorted(declaration.members, key=lambda member: member.number)
            return [head, *(f" {member.name} {member.number}" for member in members)]
        case model.Alias():
            raise AssertionError("aliases are expanded before planning")


def _closure(service: model.Service, declared: Declared) -> set[str]:
    """Full names of all declared types that values of the service can hold."""
    pending: list[str] = []
    if service.agent is not None:
        pending += _names([service.agent.type])
    for method in service.methods:
        pending += _names(field.type for struct in (method.params, method.results) for field in struct.fields)
        pending += [error.full_name for error in method.throws]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            declaration = declared[name]
            if isinstance(declaration, model.Struct):
                pending += _names(field.type for field in declaration.fields)
    return found


def _names(types: Iterable[model.Type]) -> list[str]:
    found: list[str] = []
    stack = list(types)
    while stack:
        match stack.pop():
            case model.Named(full_name, _):
                found.append(full_name)
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                stack.append(element)
            case model.OptionalOf(element):
                stack.append(element)
            case model.MapOf(key, value):
                stack += [key, value]
            case _:
                pass
    return found
