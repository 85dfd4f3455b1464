"""F6. The common steps for all drafts after reading, whatever they were read from: names that a schema can
have, keys that it allows, values that end. Each change is reported with its place.
"""

from collections.abc import Callable, Iterator

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import File, Project
from mfidl.semantics.graph import components
from mfidl.semantics.symbols import BUILTIN_TYPES

_KEYS = frozenset(("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "string", "bytes", "uuid"))


def settle(project: Project, diagnostics: Diagnostics) -> None:
    _refuse_endless(project, diagnostics)
    if diagnostics:
        return
    _separate_errors(project, diagnostics)
    keys = [_Keys(project, file, diagnostics) for file in project.files]
    for each in keys:
        each.turn_values()  # all of them by the types as they were
    for each in keys:
        each.settle()
    _end_values(project, diagnostics)
    _name(project, diagnostics)


# Definitions without an end --------------------------------------------------------------------------------


def _refuse_endless(project: Project, diagnostics: Diagnostics) -> None:
    """Refuses aliases that hold themselves through aliases, and services that extend themselves."""
    above: dict[str, list[str]] = {}
    for file in project.files:
        for each in file.declarations:
            if isinstance(each, draft.Alias):
                keys = draft.references(each)
                above[each.key] = [key for key in keys if isinstance(project.of(key), draft.Alias)]
            elif isinstance(each, draft.Service):
                above[each.key] = [each.base] if each.base is not None else []
    for loop in components(list(above), lambda key: above.get(key, [])):
        if len(loop) > 1 or loop[0] in above[loop[0]]:
            first = project.of(loop[0])
            does = "extends itself" if isinstance(first, draft.Service) else "is defined by itself"
            diagnostics.error("E1003", first.span, message=f"`{first.name}` {does}")


# Errors that are used as types -----------------------------------------------------------------------------


def _separate_errors(project: Project, diagnostics: Diagnostics) -> None:
    """An error is not a type here. If one is used as a type, a struct with the same fields is added."""
    for file in project.files:
        for declaration in list(file.declarations):
            for member in draft.members_of(declaration):
                member.type = _without_errors(project, member, member.type, diagnostics)
            if isinstance(declaration, draft.Alias):
                declaration.type = _without_errors(project, declaration, declaration.type, diagnostics)


def _without_errors(
    project: Project, holder: draft.Member | draft.Alias, type_: draft.Type, diagnostics: Diagnostics
) -> draft.Type:
    def changed(ref: draft.Ref) -> draft.Type:
        error = project.of(ref.key)
        if not isinstance(error, draft.Struct) or error.kind != "error":
            return ref
        key = f"{ref.key} as a value"
        if not project.knows(key):
            file = project.file_of(ref.key)
            made = draft.Struct(key, f"{error.name}Value", error.span, list(error.annotations), error.doc)
            made.members = list(error.members)
            file.declarations.insert(file.declarations.index(error), made)
            project.place(file, made)
        diagnostics.warning(
            "W1002",
            holder.span,
            what=f"the exception `{error.name}` as a type",
            becomes=f"struct `{error.name}Value` of the same fields",
            reason="an error is the outcome of a call, and no type",
        )
        return draft.Ref(key)

    return _mapped(type_, changed)


def _mapped(type_: draft.Type, change: Callable[[draft.Ref], draft.Type]) -> draft.Type:
    """The type with each reference changed."""
    match type_:
        case draft.Ref():
            return change(type_)
        case draft.ListOf(element):
            return draft.ListOf(_mapped(element, change))
        case draft.SetOf(element):
            return draft.SetOf(_mapped(element, change))
        case draft.MapOf(key, value):
            return draft.MapOf(_mapped(key, change), _mapped(value, change))
        case draft.OptionalOf(inner):
            return draft.optional(_mapped(inner, change))
        case draft.StreamOf(element):
            return draft.StreamOf(_mapped(element, change))
        case _:
            return type_


# Keys ------------------------------------------------------------------------------------------------------


class _Keys:
    """Maps and sets of one file whose keys cannot be keys here become lists."""

    def __init__(self, project: Project, file: File, diagnostics: Diagnostics) -> None:
        self._project = project
        self._file = file
        self._diagnostics = diagnostics

    def turn_values(self) -> None:
        """Changes the values of maps and sets that become lists. Called before any type is changed."""
        for declaration in self._file.declarations:
            for member in draft.members_of(declaration):
                if member.default is not None:
                    member.default = self._value(member.type, member.default)
            if isinstance(declaration, draft.Const):
                declaration.value = self._value(declaration.type, declaration.value)

    def settle(self) -> None:
        for declaration in list(self._file.declarations):
            for member in draft.members_of(declaration):
                name = declaration.name + draft.camel(member.name or "result")
                member.type = self._type(member.type, declaration, name, member)
            if isinstance(declaration, draft.Alias | draft.Const):
                declaration.type = self._type(declaration.type, declaration, declaration.name, declaration)

    def _value(self, type_: draft.Type, value: draft.Value) -> draft.Value:
        """Entries of a map whose keys are not allowed here become structs; elements of a set stay."""
        match self._project.bare(draft.present(type_)), value:
            case draft.ListOf(element) | draft.SetOf(element), draft.ListValue(elements):
                return draft.ListValue(tuple(self._value(element, each) for each in elements))
            case draft.MapOf(key, held), draft.MapValue(entries):
                made = tuple((self._value(key, k), self._value(held, v)) for k, v in entries)
                if self._is_key(key):
                    return draft.MapValue(made)
                return draft.ListValue(tuple(draft.StructValue((("key", k), ("value", v))) for k, v in made))
            case draft.Ref(name), draft.StructValue(fields):
                struct = self._project.of(name)
                types = {each.name: each.type for each in draft.members_of(struct)}
                return draft.StructValue(
                    tuple((name, self._value(types[name], each)) for name, each in fields)
                )
        return value

    def _type(
        self,
        type_: draft.Type,
        before: draft.Declaration,
        name: str,
        holder: draft.Member | draft.Alias | draft.Const,
    ) -> draft.Type:
        def inner(part: draft.Type) -> draft.Type:
            return self._type(part, before, name, holder)

        match type_:
            case draft.SetOf(element):
                if self._is_key(element):
                    return type_
                self._tell(holder, "a set of such elements", "a list", "they cannot be compared as keys")
                return draft.ListOf(inner(element))
            case draft.MapOf(key, value):
                if self._is_key(key):
                    return draft.MapOf(key, inner(value))
                entry = self._entry(before, name, inner(key), inner(value), holder)
                self._tell(holder, "a map of such keys", f"a list of `{entry.name}`", "they are no keys here")
                return draft.ListOf(draft.Ref(entry.key))
            case draft.ListOf(element):
                return draft.ListOf(inner(element))
            case draft.OptionalOf(held):
                return draft.optional(inner(held))
            case draft.StreamOf(element):
                return draft.StreamOf(inner(element))
            case _:
                return type_

    def _entry(
        self,
        before: draft.Declaration,
        name: str,
        key: draft.Type,
        value: draft.Type,
        holder: draft.Member | draft.Alias | draft.Const,
    ) -> draft.Struct:
        own = f"{before.key} entry {name}"
        while self._project.knows(own):  # a map inside of a map
            own, name = own + "Entry", name + "Entry"
        made = draft.Struct(own, f"{name}Entry", holder.span, holder=before.holder)
        made.members = [
            draft.Member("key", key, holder.span, 1),
            draft.Member("value", value, holder.span, 2),
        ]
        self._file.declarations.insert(self._file.declarations.index(before), made)
        self._project.place(self._file, made)
        return made

    def _is_key(self, type_: draft.Type) -> bool:
        bare = self._project.bare(type_)
        if isinstance(bare, draft.Ref):
            return isinstance(self._project.of(bare.key), draft.Enum)
        return isinstance(bare, draft.Builtin) and bare.word.partition(".")[0] in _KEYS

    def _tell(
        self, holder: draft.Member | draft.Alias | draft.Const, what: str, becomes: str, reason: str
    ) -> None:
        self._diagnostics.warning("W1002", holder.span, what=what, becomes=becomes, reason=reason)


# Values without an end -------------------------------------------------------------------------------------


def _end_values(project: Project, diagnostics: Diagnostics) -> None:
    """A struct that holds itself directly does so by an optional field."""
    structs = {
        each.key: each
        for file in project.files
        for each in file.declarations
        if isinstance(each, draft.Struct)
    }
    again = True
    while again:  # a loop of several structs may need several fields to be optional
        again = False
        for loop in components(list(structs), lambda key: list(_direct(project, structs[key]))):
            again = _break(project, [structs[key] for key in loop], diagnostics) or again


def _direct(project: Project, struct: draft.Struct) -> Iterator[str]:
    for member in struct.members:
        bare = project.bare(member.type)
        if isinstance(bare, draft.Ref) and isinstance(project.of(bare.key), draft.Struct):
            yield bare.key


def _break(project: Project, loop: list[draft.Struct], diagnostics: Diagnostics) -> bool:
    inside = {each.key for each in loop}
    for struct in loop:
        if struct.kind == "union" and any(each.kind != "union" for each in loop):
            continue
        for member in struct.members:
            bare = project.bare(member.type)
            if not isinstance(bare, draft.Ref) or bare.key not in inside:
                continue
            union = struct.kind == "union"
            member.type = draft.ListOf(member.type) if union else draft.optional(member.type)
            member.default = None
            diagnostics.warning(
                "W1002",
                member.span,
                what=f"`{member.name}`, by which `{struct.name}` holds itself,",
                becomes="a list" if union else "optional",
                reason="a value would have no end",
            )
            return True
    return False


# Names -----------------------------------------------------------------------------------------------------


def _name(project: Project, diagnostics: Diagnostics) -> None:
    modules = {file.module for file in project.files}
    inside = {
        ".".join(module.split(".")[:end]) for module in modules for end in range(1, module.count(".") + 2)
    }
    for file in project.files:
        names: dict[str, set[str]] = {}
        for declaration in file.declarations:
            taken = names.setdefault(declaration.holder, set())
            around = project.of(declaration.holder) if declaration.holder else None
            members = {each.name for each in draft.members_of(around)} if around else set()
            name, reason = declaration.name, ""
            while True:
                if name in BUILTIN_TYPES:
                    reason = "a built-in type has that name"
                elif name in taken:
                    reason = "another declaration has that name"
                elif name in members:
                    reason = "a field has that name"
                elif not around and f"{file.module}.{name}" in inside:
                    reason = "a module has that name"
                else:
                    break
                name += "_"
            taken.add(name)
            if reason:
                diagnostics.warning(
                    "W1003",
                    declaration.span,
                    name=declaration.name,
                    new=name,
                    where="in the schema",
                    reason=reason,
                )
                declaration.name = name
