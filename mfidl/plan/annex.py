"""F5. The annex of a service or topic: what its descriptor leaves out and readers of others still need.

    annex sf1.search.Index
     method query
      was search
      params
       limit
        default 10
        constraint range 1..1000
       terms
        constraint length 1..16
        element
         constraint length 1..64
     method put
      params_stream
       constraint length ..4096
    type sf1.search.Hit
     title
      was name
      default "untitled"

    annex sf1.search.Additions
     replay 10
     overflow drop_oldest block
    type sf1.search.Hit
     title
      was name

In the order of the descriptor (fingerprint.py), and only lines that say something; the first is always there.
`was` is one earlier name, `default` is JSON (default_json.py), `constraint` is spelled as in the schema, with
a space for its parentheses. Under `element`, `key` and `value` stand the constraints of what is inside of a
container; an optional is no level of its own. The annex is outside of the fingerprint: peers whose annexes
differ understand each other.
"""

from collections.abc import Iterable, Iterator

from mfidl import model
from mfidl.plan.default_json import default_json
from mfidl.plan.fingerprint import joined, types_of
from mfidl.plan.layout import Declared
from mfidl.plan.reach import Reach
from mfidl.plan.spelling import constraint_parts


class Annexes:
    """Of the services, topics and types of a program. What they say of a declared type is written once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._written: dict[str, str] = {}

    def service(self, service: model.Service) -> str:
        lines = [f"annex {service.full_name}"]
        types = [] if service.agent is None else [service.agent.type]
        for method in service.methods:
            types += types_of(method)
            lines += _under(f"method {method.name}", _method(method, self._reach.declared))
        return self._with_types(lines, types)

    def topic(self, topic: model.Topic) -> str:
        """What it keeps and allows, then the same of its types as for a service."""
        lines = [f"annex {topic.full_name}"]
        if topic.replay:
            lines.append(f" replay {topic.replay}")
        if topic.overflow != model.OVERFLOWS:
            lines.append(f" overflow {' '.join(topic.overflow)}")
        types: list[model.Type] = [topic.type]
        if topic.agent is not None:
            types.append(topic.agent.type)
        return self._with_types(lines, types)

    def type(self, kind: model.Named) -> str:
        """For values that carry their descriptor."""
        return self._with_types([f"annex {kind.full_name}"], [kind])

    def _with_types(self, lines: list[str], types: list[model.Type]) -> str:
        return joined(lines) + "".join(map(self._type, self._reach.of(types)))

    def _type(self, name: str) -> str:
        if name not in self._written:
            declared = self._reach.declared
            self._written[name] = joined(_with_head(f"type {name}", _type(declared[name], declared)))
        return self._written[name]


def own_annex(declaration: model.Declaration, declared: Declared) -> str:
    """What an annex says under the line of a declared type; empty if that is nothing."""
    return joined(f" {line}" for line in _type(declaration, declared))


def _method(method: model.Method, declared: Declared) -> Iterator[str]:
    yield from _earlier(method.was)
    yield from _with_head("params", _fields(method.params.fields, declared))
    if method.param_stream is not None:
        yield from _with_head("params_stream", _stream(method.param_stream))
    yield from _with_head("results", _fields(method.results.fields, declared))
    if method.result_stream is not None:
        yield from _with_head("results_stream", _stream(method.result_stream))


def _type(declaration: model.Declaration, declared: Declared) -> Iterator[str]:
    """Members of enums and flags have no earlier names and no values but their own."""
    if isinstance(declaration, model.Struct | model.Union):
        fields = model.members(declaration)
        if isinstance(declaration, model.Union) or declaration.tier is model.Tier.ARCHIVE:
            fields = tuple(sorted(fields, key=lambda field: field.number or 0))
        yield from _fields(fields, declared, in_graph=bool(model.graph_tables(declared, declaration)))


def _fields(fields: Iterable[model.Field], declared: Declared, *, in_graph: bool = False) -> Iterator[str]:
    for field in fields:
        yield from _with_head(field.name, _field(field, declared, in_graph))


def _field(field: model.Field, declared: Declared, in_graph: bool) -> Iterator[str]:
    yield from _earlier(field.was)
    if field.default is not None:
        yield f"default {default_json(field.type, field.default, declared, in_graph=in_graph)}"
    yield from _constraints(field.type, field.constraints)


def _stream(stream: model.Stream) -> Iterator[str]:
    return _constraints(stream.type, stream.constraints)


def _earlier(names: Iterable[str]) -> Iterator[str]:
    return (f"was {name}" for name in names)


def _constraints(type_: model.Type, constraints: Iterable[model.Constraint]) -> Iterator[str]:
    """Those of a place, then those of what its value contains."""
    for each in constraints:
        name, arguments = constraint_parts(each, type_)
        yield f"constraint {name} {arguments}".rstrip()
    match type_:
        case model.OptionalOf(element):
            yield from _constraints(element, ())
        case model.ListOf(element, inner) | model.SetOf(element, inner) | model.ArrayOf(element, _, inner):
            yield from _with_head("element", _constraints(element, inner))
        case model.MapOf(key, value, of_keys, of_values):
            yield from _with_head("key", _constraints(key, of_keys))
            yield from _with_head("value", _constraints(value, of_values))
        case _:
            pass


def _with_head(head: str, lines: Iterable[str]) -> Iterator[str]:
    """A head and, one level deeper, what belongs to it; nothing where nothing does."""
    first = True
    for line in lines:
        if first:
            yield head
            first = False
        yield f" {line}"


def _under(head: str, lines: Iterable[str]) -> Iterator[str]:
    return (f" {line}" for line in _with_head(head, lines))
