"""F4. Declarations by name, and the look-up of names from a module.

A symbol may be `BROKEN`: declared, but invalid, and already reported. Code that finds one reports nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain

from mfidl.diagnostics import Diagnostics, Note
from mfidl.diagnostics.suggest import Suggester
from mfidl.semantics.loading import LoadedModule
from mfidl.source import Span
from mfidl.syntax import ast
from mfidl.syntax.habits import TYPES, VALUES, type_advice

# With what editors say of each.
BUILTIN_TYPES = {
    "bool": "true or false",
    "i8": "signed whole number of 8 bits",
    "i16": "signed whole number of 16 bits",
    "i32": "signed whole number of 32 bits",
    "i64": "signed whole number of 64 bits",
    "u8": "unsigned whole number of 8 bits",
    "u16": "unsigned whole number of 16 bits",
    "u32": "unsigned whole number of 32 bits",
    "u64": "unsigned whole number of 64 bits",
    "f32": "IEEE 754 number of 32 bits, with inf and nan",
    "f64": "IEEE 754 number of 64 bits, with inf and nan",
    "string": "UTF-8 text, checked on decode",
    "bytes": "any bytes",
    "timestamp": "nanoseconds since 1970 in an i64",
    "duration": "nanoseconds in an i64",
    "uuid": "16 bytes",
    "list": "list<T>: any number of elements",
    "array": "array<T, N>: exactly N elements; N is a number or a constant",
    "set": "set<T>: without duplicates, ordered on the wire",
    "map": "map<K, V>: by key, without duplicates; keys are bool, integers, enums, string, bytes, uuid",
    "ref": "ref<T>: a shared object of a graph; in types of the tier archive only",
    "stream": "stream<T>: values one after the other, as a parameter or result only",
}


_SHORTEST_IN_ANY_CASE = 4  # `Red` is hardly `ref`


class Kind(Enum):
    """What a symbol is; the value is how messages say it."""

    STRUCT = "a struct"
    ERROR = "an error"
    UNION = "a union"
    ENUM = "an enum"
    FLAGS = "flags"
    ALIAS = "an alias"
    CONST = "a constant"
    AGENT = "an agent"
    SERVICE = "a service"
    TOPIC = "a topic"
    ANNOTATION = "an annotation"
    BROKEN = "broken"


# Kinds whose names are used unchanged in generated code; servants, clients and agents have longer ones.
_NAMED_AS_THEY_ARE = frozenset(
    (Kind.STRUCT, Kind.ERROR, Kind.UNION, Kind.ENUM, Kind.FLAGS, Kind.ALIAS, Kind.CONST)
)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A declaration with its full name. `scope` is what its members see: the module that it is in, from
    within what declares it, and from within itself if it declares types.
    """

    name: str
    full_name: str
    kind: Kind
    declaration: ast.Decl | None
    scope: "Scope"
    within: str = ""  # the declarations that it is within: "Outer", or "Outer.Inner"

    @property
    def local_name(self) -> str:
        """Its name as the whole module may write it."""
        return f"{self.within}.{self.name}" if self.within else self.name

    @property
    def span(self) -> Span | None:
        return None if self.declaration is None else name_span(self.declaration)

    def notes(self) -> list[Note]:
        """ "declared here", for the message that says this symbol is of the wrong kind."""
        return [Note(f"`{self.name}` is declared here", self.span)] if self.span else []


@dataclass(slots=True, eq=False)
class Scope:
    """The names that are visible in one file: its own, and modules by local and full name (None: a failed
    import). Types within declarations are among `symbols` as "Outer.Inner". A scope that is seen from within
    a declaration shares all that with the file's.
    """

    module: LoadedModule
    prefix: str  # of full names: the module's name, unless another file has it already
    symbols: dict[str, Symbol] = field(default_factory=dict)
    modules: dict[str, "Scope | None"] = field(default_factory=dict)
    duplicates: list[Symbol] = field(
        default_factory=list
    )  # found by no name; what they hold is still checked
    modules_missed: bool = False  # an import came to nothing: its module may have any full name
    holders: dict[str, "Scope"] = field(default_factory=dict)  # what declares types, and how it sees names
    within: str = ""  # the declaration from within which names are seen
    file_scope: "Scope | None" = None  # None: this is it

    @property
    def outermost(self) -> "Scope":
        return self.file_scope or self

    def from_within(self, holder: str) -> "Scope":
        """What is seen from within a declaration that declares types."""
        if not holder:
            return self.outermost
        if holder not in self.holders:
            self.holders[holder] = replace(self, within=holder, file_scope=self.outermost)
        return self.holders[holder]

    def outwards(self) -> Iterator[str]:
        """The declarations around, the innermost first."""
        holder = self.within
        while holder:
            yield holder
            holder = holder.rpartition(".")[0]

    def seen(self, name: str) -> Symbol | None:
        """What a name means here, or one of a type behind those that it is within."""
        for holder in self.outwards():
            if (found := self.symbols.get(f"{holder}.{name}")) is not None:
                return found
        return self.symbols.get(name)


@dataclass(frozen=True, slots=True)
class Missing:
    """A look-up that found nothing; `code` overrides the role's own "unknown ..." when more is known."""

    help: str | None = None
    fix: str | None = None  # what to write in place of the last part of the path
    code: str | None = None
    module: str = ""
    path: str = ""  # of the file that would have to be imported


def name_span(declaration: ast.Decl) -> Span:
    if isinstance(declaration, ast.ModuleDecl):
        return declaration.path.span
    if isinstance(declaration, ast.ImportDecl):
        return declaration.target.span
    return declaration.name.span


def _kind(declaration: ast.Decl) -> Kind:
    match declaration:
        case ast.StructDecl():
            return Kind[declaration.keyword.upper()]
        case ast.EnumDecl():
            return {"enum": Kind.ENUM, "flags": Kind.FLAGS}[declaration.keyword]
        case ast.AliasDecl():
            return Kind.ALIAS
        case ast.ConstDecl():
            return Kind.CONST
        case ast.AgentDecl():
            return Kind.AGENT
        case ast.ServiceDecl():
            return Kind.SERVICE
        case ast.TopicDecl():
            return Kind.TOPIC
        case _:
            return Kind.BROKEN


def collect(modules: Iterable[LoadedModule], diagnostics: Diagnostics) -> list[Scope]:
    """A scope per module, in the same order. Reports names that are taken twice, or built in."""
    scopes: dict[int, Scope] = {}
    names: set[str] = set()
    for module in modules:
        lost = module.file.lost_declarations or module.file.lost_imports
        prefix = f"{module.name}({module.file.source.path})" if module.name in names else module.name
        names.add(module.name)
        scope = Scope(module, prefix, modules_missed=lost)
        scopes[id(module)] = scope
        _declare(scope, diagnostics)
        _import(scope, scopes, diagnostics)
    _refuse_names_of_modules(list(scopes.values()), diagnostics)
    return list(scopes.values())


def _refuse_names_of_modules(scopes: list[Scope], diagnostics: Diagnostics) -> None:
    """A type or constant `b` of module `a` beside a module `a.b`, or one inside of that: in C++ a class and a
    namespace, in Python a class and a module would have one name.
    """
    inside: dict[str, LoadedModule] = {}
    for scope in scopes:
        words = scope.module.name.split(".")
        for end in range(2, len(words) + 1):
            inside.setdefault(".".join(words[:end]), scope.module)
    for scope in scopes:
        for symbol in scope.symbols.values():
            other = inside.get(f"{scope.module.name}.{symbol.local_name}")
            named = symbol.kind in _NAMED_AS_THEY_ARE or symbol.name in scope.holders
            if other is None or symbol.within or not named or symbol.declaration is None:
                continue
            declared = other.declaration
            notes = [Note(f"module `{other.name}` is here", None if declared is None else declared.path.span)]
            diagnostics.error(
                "E0318",
                symbol.span,
                notes=notes,
                help=f"rename the {symbol.kind.value.split()[-1]} or the module",
                name=f"{scope.module.name}.{symbol.name}",
                kind=symbol.kind.value,
            )


def _declare(scope: Scope, diagnostics: Diagnostics) -> None:
    for declaration in scope.module.file.declarations:
        if isinstance(declaration, ast.ModuleDecl | ast.ImportDecl):
            continue
        name = declaration.name
        within = getattr(declaration, "within", "")
        if within:
            scope.from_within(within)
        local_name = f"{within}.{name.text}" if within else name.text
        # What it declares itself comes before it.
        seen = scope.holders.get(local_name) or (scope.from_within(within) if within else scope)
        full_name, kind = f"{scope.prefix}.{local_name}", _kind(declaration)
        first = scope.symbols.get(local_name)
        if first is not None:
            notes = [Note("first here", first.span)]
            diagnostics.error("E0303", name.span, notes=notes, name=name.text)
            own_name = f"{full_name}#{len(scope.duplicates)}"
            scope.duplicates.append(Symbol(name.text, own_name, kind, declaration, seen, within))
            continue
        if name.text in BUILTIN_TYPES:
            diagnostics.error("E0305", name.span, name=name.text)
        scope.symbols[local_name] = Symbol(name.text, full_name, kind, declaration, seen, within)
    _refuse_names_of_members(scope, diagnostics)
    for broken in scope.module.file.broken_names:
        if broken not in scope.symbols:
            scope.symbols[broken] = Symbol(broken, broken, Kind.BROKEN, None, scope)


def _refuse_names_of_members(scope: Scope, diagnostics: Diagnostics) -> None:
    """A type called as a field or method of what declares it: a class would have two members of a name."""
    for holder in scope.holders:
        declaration = scope.symbols[holder].declaration if holder in scope.symbols else None
        members: Iterable[ast.Field | ast.MethodDecl] = ()
        if isinstance(declaration, ast.StructDecl):
            members = declaration.fields
        elif isinstance(declaration, ast.ServiceDecl):
            members = declaration.methods
        for member in members:
            symbol = scope.symbols.get(f"{holder}.{member.name.text}")
            if symbol is not None:
                notes = [Note("the type is here", symbol.span)]
                diagnostics.error("E0303", member.name.span, notes=notes, name=member.name.text)


def _import(scope: Scope, scopes: dict[int, Scope], diagnostics: Diagnostics) -> None:
    local_names: dict[str, ast.ImportDecl] = {}
    seen: dict[str, ast.ImportDecl] = {}
    for declaration, module in scope.module.imports:
        if module is None:
            stem = (
                declaration.target.data.decode("utf-8", "replace").rpartition("/")[2].removesuffix(".mfidl")
            )
            scope.modules[declaration.alias.text if declaration.alias else stem] = None
            scope.modules_missed = True
            continue
        local = declaration.alias.text if declaration.alias else module.name.rpartition(".")[2]
        span = declaration.alias.span if declaration.alias else declaration.target.span
        if module.name in seen:
            notes = [Note("first here", seen[module.name].target.span)]
            problem = f"module `{module.name}` is imported twice"
            diagnostics.error("E0206", declaration.target.span, notes=notes, problem=problem)
            scope.modules.setdefault(local, scopes.get(id(module)))
            continue
        if local in local_names:
            notes = [Note("first here", local_names[local].target.span)]
            problem = f"two imported modules are called `{local}`"
            hint = f'give one another name: import "..." as other_{local};'
            diagnostics.error("E0206", span, notes=notes, help=hint, problem=problem)
        seen[module.name] = declaration
        scope.modules[module.name] = scopes.get(id(module))
        if local in local_names:
            scope.modules[local] = None  # it is unclear which one a path means: nothing more is reported
        else:
            local_names[local] = declaration
            scope.modules[local] = scopes.get(id(module))


def look_up(
    scope: Scope, path: ast.Path, wanted: frozenset[Kind], all_scopes: Iterable[Scope], suggester: Suggester
) -> Symbol | Missing | None:
    """The symbol that a path names; None when it is broken in a way already reported.

    `wanted` only serves the suggestion: names of these kinds are what may have been meant.
    """
    qualifier, _, name = path.text.rpartition(".")
    if not qualifier:
        return _look_in(scope, None, name, scope, wanted, suggester)
    found = _holder(scope, qualifier)
    if found is None:
        declared = scope.seen(qualifier)
        if declared is not None and declared.declaration is not None and Kind.STRUCT in wanted:
            return Missing(help=f"`{qualifier}` is {declared.kind.value}, and declares no types")
        return _unknown_module(scope, qualifier, name, all_scopes, suggester)
    holder, within = found
    return None if holder is None else _look_in(holder, within, name, scope, wanted, suggester)


def _holder(scope: Scope, qualifier: str) -> tuple[Scope | None, str] | None:
    """The meaning of a path before its last dot: a module (None: a failed import), and the declaration in it
    that declares types, or "". The first word decides, seen from the inside outwards; of modules, the longest
    name.
    """
    first, _, _ = qualifier.partition(".")
    for around in scope.outwards():
        if f"{around}.{first}" in scope.symbols:
            within = f"{around}.{qualifier}"
            return (scope.outermost, within) if within in scope.holders else None
    module, rest = qualifier, ""
    while module:
        known = scope.outermost if module == scope.module.name else scope.modules.get(module)
        if known is not None and (not rest or rest in known.holders):
            return known, rest
        if module in scope.modules and known is None:
            return None, ""
        module, _, last = module.rpartition(".")
        rest = f"{last}.{rest}" if rest else last
    return (scope.outermost, qualifier) if qualifier in scope.holders else None


def _look_in(
    holder: Scope,
    within: str | None,
    name: str,
    viewer: Scope,
    wanted: frozenset[Kind],
    suggester: Suggester,
) -> Symbol | Missing | None:
    """`within`: the declaration of the holder that declares types, "" for the holder itself; None: whatever
    the viewer sees from where it is.
    """
    if within is None:
        symbol = viewer.seen(name)
    else:
        symbol = holder.symbols.get(f"{within}.{name}" if within else name)
    if symbol is not None:
        return None if symbol.kind is Kind.BROKEN else symbol
    if holder.module.file.lost_declarations:
        return None
    return _missing(holder, within or "", name, viewer, wanted, suggester)


def _missing(
    holder: Scope, within: str, name: str, viewer: Scope, wanted: frozenset[Kind], suggester: Suggester
) -> Missing:
    """What may have been meant by a name that is not there."""
    own = holder.outermost is viewer.outermost and not within
    built_in: list[str] = []
    if own:
        for local, module in viewer.modules.items():
            if module is not None and "." not in local and name in module.symbols:
                return Missing(help=f"did you mean `{local}.{name}`?")
        if Kind.STRUCT in wanted:
            built_in = sorted(BUILTIN_TYPES)
            advice = type_advice(name)
            known = (*built_in, *_declared(viewer, "", wanted)) if advice is not None else ()
            if advice is not None and name not in map(str.lower, known):
                return Missing(help=advice, fix=TYPES.get(name, TYPES.get(name.lower())))
        elif Kind.CONST in wanted and name in VALUES:
            return Missing(help=VALUES[name])
    if own and viewer.modules.get(name) is not None:
        return Missing(help=f"`{name}` is a module: write `{name}.Name`")
    found = suggester.nearest(name, chain(built_in, _declared(viewer if own else holder, within, wanted)))
    inner = _within_others(holder, name, wanted) if found is None else None
    if inner is not None:
        words = (local for local, module in viewer.modules.items() if module is holder.outermost)
        inner = inner if holder.outermost is viewer.outermost else f"{next(words)}.{inner}"
        return Missing(help=f"did you mean `{inner}`?", fix=inner if own else None)
    if found is None and len(name) >= _SHORTEST_IN_ANY_CASE:
        found = suggester.nearest(name.lower(), built_in)
    return Missing(help=f"did you mean `{found}`?" if found else None, fix=found)


def _declared(holder: Scope, within: str, wanted: frozenset[Kind]) -> Iterator[str]:
    """What may be written there without dots, or behind the name of a declaration of it."""
    seen = {within} if within else {"", *holder.outwards()}
    return (each.name for each in holder.symbols.values() if each.kind in wanted and each.within in seen)


def _within_others(holder: Scope, name: str, wanted: frozenset[Kind]) -> str | None:
    """The local name of a type of this name that a declaration of the module has."""
    if not holder.holders:
        return None
    every = (each for each in holder.symbols.values() if each.within and each.name == name)
    return next((each.local_name for each in every if each.kind in wanted), None)


def _unknown_module(
    viewer: Scope, qualifier: str, name: str, all_scopes: Iterable[Scope], suggester: Suggester
) -> Missing | None:
    if viewer.modules_missed:
        return None
    for scope in all_scopes:
        module = scope.module
        for called in (module.name, module.name.rpartition(".")[2]):
            if f"{qualifier}.{name}".removeprefix(f"{called}.") in scope.symbols and (
                qualifier == called or qualifier.startswith(f"{called}.")
            ):
                help_ = f'add: import "{module.path}";'
                return Missing(help=help_, code="E0307", module=module.name, path=module.path)
    found = suggester.nearest(qualifier, (local for local, each in viewer.modules.items() if each))
    holder = viewer.modules[found] if found else None
    meant = f"{found}.{name}" if holder is not None and name in holder.symbols else found
    return Missing(help=f"did you mean `{meant}`?" if meant else None, code="E0306", module=qualifier)
