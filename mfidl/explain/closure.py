"""The declarations that a type reaches, and all of a program in an order that keeps walks shallow."""

from collections.abc import Iterable, Iterator

from mfidl import model


def named_in(type_: model.Type) -> Iterator[model.Named]:
    """The declared types that a type expression names, from left to right."""
    stack = [type_]
    while stack:
        match stack.pop():
            case model.Named() as named:
                yield named
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                stack.append(element)
            case model.OptionalOf(element) | model.RefOf(element):
                stack.append(element)
            case model.MapOf(key, value):
                stack += [value, key]
            case model.AliasOf(_, target):
                stack.append(target)
            case _:
                pass


def members(declaration: model.Declaration) -> tuple[model.Field, ...]:
    """The fields of a struct or the alternatives of a union; nothing of other kinds."""
    match declaration:
        case model.Struct():
            return declaration.fields
        case model.Union():
            return declaration.alternatives
        case _:
            return ()


def reached(program: model.Program, types: Iterable[model.Type]) -> list[model.Declaration]:
    """Every declaration in the closure of the types, each behind what it needs where there is no cycle."""
    done: dict[str, model.Declaration] = {}
    for type_ in types:
        for named in named_in(type_):
            _visit(program, named.full_name, done)
    return list(done.values())


def in_order(program: model.Program) -> list[model.Declaration]:
    """The whole program's types, each behind what it needs where there is no cycle."""
    done: dict[str, model.Declaration] = {}
    for module in program.modules:
        for declaration in module.declarations:
            _visit(program, declaration.full_name, done)
    return list(done.values())


def _visit(program: model.Program, root: str, done: dict[str, model.Declaration]) -> None:
    """Depth first without recursion: schemas may chain thousands of types."""
    seen = set(done)
    stack: list[tuple[str, Iterator[str]]] = []

    def enter(name: str) -> None:
        if name not in seen:
            seen.add(name)
            fields = members(program.declaration(name))
            stack.append((name, iter([each.full_name for field in fields for each in named_in(field.type)])))

    enter(root)
    while stack:
        name, pending = stack[-1]
        following = next(pending, None)
        if following is None:
            stack.pop()
            done[name] = program.declaration(name)
        else:
            enter(following)
