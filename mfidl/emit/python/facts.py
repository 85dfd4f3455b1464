"""F6. Facts about a program that the generator needs repeatedly, computed once: names, constraints,
references.

Nothing here recurses over references between types, however long their chains are.
"""

from collections import defaultdict
from collections.abc import Iterable

from mfidl.emit.python.names import Inherited, ModuleNames, field_names, module_names
from mfidl.model import (
    AliasOf,
    ArrayOf,
    DeclKind,
    EnumValue,
    Field,
    FlagsValue,
    ListOf,
    ListValue,
    MapOf,
    MapValue,
    Module,
    Named,
    OptionalOf,
    Primitive,
    Program,
    RefOf,
    SetOf,
    Struct,
    StructKind,
    StructValue,
    Tier,
    Type,
    Union,
    UnionValue,
    Value,
    members,
)


class Facts:
    """Of one program; shared by the contexts of all its files."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._attributes: dict[Struct, tuple[str, ...]] = {}
        self._modules = {module.name: module for module in program.modules}
        inherited: Inherited = {}
        self._names = {module.name: module_names(module, inherited) for module in program.modules}
        parts: dict[str, tuple[Field, ...]] = {
            each.full_name: each.fields for each in program.all_structs()
        } | {each.full_name: each.alternatives for module in program.modules for each in module.unions}
        users: dict[str, list[str]] = defaultdict(list)
        for name, fields in parts.items():
            for each in fields:
                for inner in referred(each.type):
                    users[inner.full_name].append(name)
        self._constrained = _with_users(users, (name for name, fields in parts.items() if _has_own(fields)))
        self._linked = _linked(program)
        self._needy = _needy(program)
        self.has_deprecated = any(_deprecates(each) for each in program.modules)

    def module(self, name: str) -> Module:
        return self._modules[name]

    def names(self, module: str) -> ModuleNames:
        return self._names[module]

    def attributes(self, struct: Struct) -> tuple[str, ...]:
        """The Python names of its fields."""
        if struct not in self._attributes:
            others = {*self._words_in(struct), *self._called_for(struct)}
            self._attributes[struct] = field_names(struct, self._type_name, others)
        return self._attributes[struct]

    def _called_for(self, struct: Struct) -> Iterable[str]:
        """The classes that make the defaults of its fields; one from another module may have one more
        underscore.
        """
        for each in struct.fields:
            values = () if each.default is None else _within(each.default)
            names = [name for value in values for name in self._class_of(value)]
            for named in referred(each.type):
                names += self._alternatives(named.full_name) if named.kind is DeclKind.UNION else ()
            for name in names:
                yield from (name, f"{name}_")

    def _class_of(self, value: Value) -> Iterable[str]:
        match value:
            case StructValue():
                return (self._type_name(value.struct),)
            case EnumValue():
                return (self._type_name(value.enum),)
            case FlagsValue():
                return (self._type_name(value.flags),)
            case UnionValue():
                return self._alternatives(value.union)
            case _:
                return ()

    def _alternatives(self, union: str) -> tuple[str, ...]:
        return self._names[self.program.owner(union).name].alternatives[union]

    def _words_in(self, struct: Struct) -> list[str]:
        """What a declared struct calls the types that are declared within it."""
        if struct.kind in (StructKind.PARAMS, StructKind.RESULTS):
            return []
        within = self._names[self.program.owner(struct.full_name).name].within.get(struct.full_name)
        return [word for word, _ in within.words] if within else []

    def _type_name(self, full_name: str) -> str:
        return self._names[self.program.owner(full_name).name].types[full_name]

    def is_constrained(self, struct: Struct) -> bool:
        """Whether a value can violate a constraint, in itself or in what it contains."""
        return struct.full_name in self._constrained

    def must_be_given(self, field: Field) -> bool:
        """Whether a struct's field has no default value: it is required, or its zero would need a field that
        is.
        """
        return field.required or (field.default is None and _first_held(field.type) in self._needy)

    def is_linked(self, declared: Struct | Union) -> bool:
        """Whether a value refers to others, itself or in what it holds: it is part of a graph then."""
        return declared.full_name in self._linked


def _deprecates(module: Module) -> bool:
    """Whether a declaration in it is marked so that type checkers object to its use."""
    marked = [each.deprecated for each in module.declarations]
    marked += [each.deprecated for union in module.unions for each in union.alternatives]
    marked += [each.deprecated for service in module.services for each in service.methods]
    marked += [each.deprecated for each in module.topics]
    return any(each is not None for each in marked)


def _linked(program: Program) -> set[str]:
    """The archive types with a `ref` in them or in what they hold; of another tier, what they hold has graphs
    of its own.
    """
    holders: dict[str, list[str]] = defaultdict(list)
    first: list[str] = []
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, Struct | Union) and each.tier is Tier.ARCHIVE:
                types = [field.type for field in members(each)]
                if any(_refers(type_) for type_ in types):
                    first.append(each.full_name)
                for inner in (named for type_ in types for named in referred(type_)):
                    holders[inner.full_name].append(each.full_name)
    return _with_users(holders, first)


def _refers(type_: Type) -> bool:
    match type_:
        case RefOf():
            return True
        case ListOf() | ArrayOf() | SetOf() | OptionalOf():
            return _refers(type_.element)
        case MapOf():
            return _refers(type_.value)
        case _:
            return False


def _needy(program: Program) -> set[str]:
    """The structs and unions whose zero cannot be made, because a field must be given."""
    holders: dict[str, list[str]] = defaultdict(list)
    first: list[str] = []
    for module in program.modules:
        for each in module.declarations:
            if isinstance(each, Struct | Union):
                fields = each.fields if isinstance(each, Struct) else each.alternatives[:1]
                if any(field.required for field in fields):
                    first.append(each.full_name)
                for field in fields:
                    held = _first_held(field.type) if field.default is None else None
                    if held is not None:
                        holders[held].append(each.full_name)
    return _with_users(holders, first)


def _first_held(type_: Type) -> str | None:
    """The declared type of which a zero of this type holds a value, if there is one."""
    match type_:
        case Named(full_name, DeclKind.STRUCT | DeclKind.UNION):
            return full_name
        case ArrayOf(element, _):
            return _first_held(element)
        case _:
            return None


def _with_users(users: dict[str, list[str]], first: Iterable[str]) -> set[str]:
    """These structs, and all that contain one of them, at any distance."""
    found: set[str] = set()
    waiting = list(first)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += users[name]
    return found


def _within(value: Value) -> Iterable[Value]:
    """A value, and those in it."""
    yield value
    match value:
        case ListValue():
            inner: Iterable[Value] = value.elements
        case MapValue():
            inner = (each for entry in value.entries for each in entry)
        case StructValue():
            inner = (each for _, each in value.fields)
        case UnionValue():
            inner = (value.value,)
        case _:
            inner = ()
    for each in inner:
        yield from _within(each)


def _has_own(fields: Iterable[Field]) -> bool:
    return any(each.constraints or element_constraints(each.type) for each in fields)


def referred(type_: Type) -> list[Named]:
    """The declared types that a type expression names."""
    match type_:
        case Named():
            return [type_]
        case ListOf() | ArrayOf() | SetOf() | OptionalOf():
            return referred(type_.element)
        case MapOf():
            return [*referred(type_.key), *referred(type_.value)]
        case RefOf():
            return [type_.element]
        case AliasOf():
            return referred(type_.target)
        case Primitive():
            return []


def element_constraints(type_: Type) -> bool:
    """Whether an element, key or value inside carries a constraint of its own."""
    match type_:
        case ListOf() | ArrayOf() | SetOf():
            return bool(type_.constraints) or element_constraints(type_.element)
        case OptionalOf():
            return element_constraints(type_.element)
        case MapOf():
            own = bool(type_.key_constraints or type_.value_constraints)
            return own or element_constraints(type_.key) or element_constraints(type_.value)
        case _:
            return False
