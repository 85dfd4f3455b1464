"""Types, values and constraints as the schema writes them, seen from one module: own names short, others
full.
"""

from collections.abc import Iterable, Iterator

from mfidl import model
from mfidl.dynamic.value import Repeated
from mfidl.explain.values import Example, Foreign
from mfidl.plan.spelling import constraint_text, duration_text, quoted, timestamp_text, type_text

_MOST_ELEMENTS = 6


def full_type_text(spelled: model.Type, expanded: model.Type, module: str) -> str:
    """With the meaning of an alias, where the type is one: `DocId (u32)`."""
    text = type_text(spelled, module)
    return f"{text} ({type_text(expanded, module)})" if isinstance(spelled, model.AliasOf) else text


def constraints_of(field: model.Field) -> Iterator[tuple[str, str]]:
    """(place, constraint): of the field, of its elements (`terms[]`), keys and values (`by_name[key]`)."""
    yield from positions(field.name, field.type, field.constraints)


def positions(
    place: str, type_: model.Type, constraints: tuple[model.Constraint, ...]
) -> Iterator[tuple[str, str]]:
    yield from ((place, constraint_text(each, type_)) for each in constraints)
    match type_:
        case model.ListOf(element, inner) | model.SetOf(element, inner) | model.ArrayOf(element, _, inner):
            yield from positions(f"{place}[]", element, inner)
        case model.MapOf(key, value, of_keys, of_values):
            yield from positions(f"{place}[key]", key, of_keys)
            yield from positions(f"{place}[value]", value, of_values)
        case model.OptionalOf(element):
            yield from positions(place, element, ())
        case _:
            pass


def value_text(
    value: Example, of: model.Type | model.Struct | model.Union, program: model.Program, limit: int = 400
) -> str:
    """An example or default as the schema writes it, cut at about `limit` characters."""
    pieces: list[str] = []
    length = 0
    for piece in _all_pieces(value, of, program):
        if length > limit:
            pieces.append("..." if pieces[-1].endswith(" ") else " ...")
            break
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces)


def _all_pieces(
    value: Example, of: model.Type | model.Struct | model.Union, program: model.Program
) -> Iterator[str]:
    match value, of:
        case model.StructValue(), model.Struct():
            return _fields(of, value, program)  # parameters and results have no name to refer by
        case _, model.Struct() | model.Union():
            return _pieces(value, of.reference, program)
        case _:
            return _pieces(value, of, program)


def _pieces(value: Example, type_: model.Type, program: model.Program) -> Iterator[str]:
    match value, type_:
        case None, model.RefOf(element):
            yield f"<a {element.name}>"
        case None, _:
            yield "absent"
        case _, model.OptionalOf(element):
            yield from _pieces(value, element, program)
        case ((Repeated() | model.ListValue()), (model.ListOf() | model.SetOf() | model.ArrayOf())):
            yield from _elements(value, type_.element, program)
        case model.MapValue(entries), model.MapOf(key, held):
            named = (("".join(_pieces(k, key, program)), v, held) for k, v in entries)
            yield from _braced(named, program, _MOST_ELEMENTS)
        case model.StructValue(name), _:
            declared = program.declaration(name)
            assert isinstance(declared, model.Struct)
            yield from _fields(declared, value, program)
        case model.UnionValue(name, alternative, held), _:
            declared = program.declaration(name)
            assert isinstance(declared, model.Union)
            chosen = next(each for each in declared.alternatives if each.name == alternative)
            yield from _braced([(alternative, held, chosen.type)], program)
        case _:
            yield _plain(value, type_)


def _fields(struct: model.Struct, value: model.StructValue, program: model.Program) -> Iterator[str]:
    """All of them: what a default leaves out is filled in."""
    given = dict(value.fields)
    held = ((each.name, given.get(each.name, each.default), each.type) for each in struct.fields)
    return _braced(held, program)


def _elements(
    value: Repeated | model.ListValue, element: model.Type, program: model.Program
) -> Iterator[str]:
    shown: tuple[Example, ...]
    if isinstance(value, Repeated):
        total, shown = value.count, (value.element,) * min(value.count, 3)
    else:
        total, shown = len(value.elements), value.elements[:_MOST_ELEMENTS]
    yield "["
    for at, each in enumerate(shown):
        if at:
            yield ", "
        yield from _pieces(each, element, program)
    if total > len(shown):
        yield f", ... {total} in all"
    yield "]"


def _braced(
    entries: Iterable[tuple[str, Example, model.Type]], program: model.Program, most: int | None = None
) -> Iterator[str]:
    lead = "{ "
    for at, (name, value, type_) in enumerate(entries):
        if at == most:
            yield f"{lead}..."
            break
        yield f"{lead}{name}: "
        yield from _pieces(value, type_, program)
        lead = ", "
    yield " }" if lead == ", " else "{ }"


def _plain(value: Example, type_: model.Type) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case model.EnumValue(enum, member, _):
            return f"{enum.rpartition('.')[2]}.{member}" if not member.isdigit() else member
        case model.FlagsValue(flags, members, _):
            name = flags.rpartition(".")[2]
            return (
                f"{name}.{members[0]}"
                if len(members) == 1
                else f"[{', '.join(f'{name}.{m}' for m in members)}]"
            )
        case bytes() if type_ == model.Primitive(model.Scalar.UUID):
            text = value.hex()
            return f'"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"'
        case str() | bytes():
            return quoted(value) if len(value) <= 48 else f"{quoted(value[:40])}... {len(value)} long"
        case int() if type_ == model.Primitive(model.Scalar.DURATION):
            return duration_text(value)
        case int() if type_ == model.Primitive(model.Scalar.TIMESTAMP):
            return quoted(timestamp_text(value))
        case Foreign(name):
            return f"<a {name.rpartition('.')[2]}>"
        case _:
            return str(value)
