"""F6. What the generator asks of a program again and again, worked out once: names, constraints, recursion.

Nothing here recurses over references between types, however long their chains are.
"""

from collections import defaultdict
from collections.abc import Iterable

from mfidl.emit.naming import PYTHON_RESERVED
from mfidl.emit.python.names import (
    BUILTINS,
    CODEC_HELPERS,
    CODEC_STEMS,
    TYPE_HELPERS,
    ModuleNames,
    module_names,
)
from mfidl.model import (
    AliasOf,
    ArrayOf,
    ListOf,
    MapOf,
    Module,
    Named,
    OptionalOf,
    Primitive,
    Program,
    RefOf,
    SetOf,
    Struct,
    Type,
)


class Facts:
    """Of one program; shared by the contexts of all its files."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._modules = {module.name: module for module in program.modules}
        self._names = {module.name: module_names(module) for module in program.modules}
        structs = list(program.all_structs())
        users: dict[str, list[str]] = defaultdict(list)
        for struct in structs:
            for each in struct.fields:
                for inner in referred(each.type):
                    users[inner.full_name].append(struct.full_name)
        self._constrained = _with_users(users, (each.full_name for each in structs if _has_own(each)))
        self._recursive = _with_users(users, (each.full_name for each in structs if each.cycle))
        self.global_words = self._global_words()

    def module(self, name: str) -> Module:
        return self._modules[name]

    def names(self, module: str) -> ModuleNames:
        return self._names[module]

    def is_constrained(self, struct: Struct) -> bool:
        """Whether a value can violate a constraint, in itself or in what it contains."""
        return struct.full_name in self._constrained

    def reaches_recursion(self, struct: Struct) -> bool:
        """Whether a value can nest without bound: its codec then counts the depth."""
        return struct.full_name in self._recursive

    def _global_words(self) -> frozenset[str]:
        """What a local of a generated function must not be called: it would hide something global."""
        taken = {f"{what}_{stem}" for what in ("read", "write") for stem in CODEC_STEMS}
        for names in self._names.values():
            for name in (*names.types.values(), *names.constants.values()):
                taken |= {name, f"{name}_"}
            for stem in names.stems.values():
                taken |= {f"{what}_{stem}{tail}" for what in ("read", "write", "check") for tail in ("", "_")}
        return frozenset(taken | PYTHON_RESERVED | BUILTINS | TYPE_HELPERS | CODEC_HELPERS)


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


def _has_own(struct: Struct) -> bool:
    return any(each.constraints or element_constraints(each.type) for each in struct.fields)


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
