"""F4. Type expressions to model types. Each expression is resolved, and complained about, once."""

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Place, read_annotations
from mfidl.semantics.constraints import constraints_from
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Kind, Scope, Symbol
from mfidl.syntax import ast
from mfidl.syntax.tokens import DEPTH_LIMIT

ARRAY_LIMIT = 1 << 24

CODED = {
    model.spell(coded): coded
    for coded in (
        model.Primitive(model.Scalar.I32, model.Coding.VARINT),
        model.Primitive(model.Scalar.I64, model.Coding.VARINT),
        model.Primitive(model.Scalar.I32, model.Coding.FIXED),
        model.Primitive(model.Scalar.I64, model.Coding.FIXED),
        model.Primitive(model.Scalar.U32, model.Coding.FIXED),
        model.Primitive(model.Scalar.U64, model.Coding.FIXED),
    )
}
_SCALARS = {scalar.value: model.Primitive(scalar) for scalar in model.Scalar} | CODED
_ARITY = {
    "list": ("one type", 1),
    "set": ("one type", 1),
    "map": ("two types", 2),
    "array": ("a type and a length", 2),
    "ref": ("one type", 1),
}
_DECLARED = {
    Kind.STRUCT: model.DeclKind.STRUCT,
    Kind.UNION: model.DeclKind.UNION,
    Kind.ENUM: model.DeclKind.ENUM,
    Kind.FLAGS: model.DeclKind.FLAGS,
}
_TYPES = frozenset((*_DECLARED, Kind.ALIAS))
_INSTEAD = {
    Kind.SERVICE: "a service is no value: pass what it is found by, as its agent",
    Kind.TOPIC: "a topic is no value: write the type that it carries",
    Kind.AGENT: "write the type that the agent has",
    Kind.CONST: "write the type that the constant has",
}
_KEY_SCALARS = frozenset(
    scalar
    for scalar in model.Scalar
    if scalar.is_integer
    or scalar in (model.Scalar.BOOL, model.Scalar.STRING, model.Scalar.BYTES, model.Scalar.UUID)
)


def is_key(type_: model.Type) -> bool:
    """Whether a type (aliases allowed) may be a map's key or a set's element."""
    match model.expand(type_):
        case model.Primitive(scalar):
            return scalar in _KEY_SCALARS
        case model.Named(kind=kind):
            return kind is model.DeclKind.ENUM
        case _:
            return False


class TypeResolver:
    """Implements `TypeSource`. Depth is bounded through aliases too, so that no later pass can run out of
    stack.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[ast.TypeExpr, tuple[model.Type, int] | None] = {}
        self._aliases: dict[str, tuple[model.Type, int, tuple[model.Constraint, ...]] | None] = {}
        self._open_aliases: list[Symbol] = []
        self._limited: list[Symbol] = []  # their constraints are being read

    def resolve(self, expression: ast.TypeExpr, scope: Scope) -> model.Type | None:
        found = self._resolve(expression, scope)
        return None if found is None else found[0]

    def constraints_of(self, spelled: model.Type) -> tuple[model.Constraint, ...]:
        match spelled:
            case model.AliasOf(full_name, _):
                alias = self._aliases.get(full_name)
                return () if alias is None else alias[2]
            case model.OptionalOf(element):
                return self.constraints_of(element)
            case _:
                return ()

    def alias(self, symbol: Symbol) -> tuple[model.Type, int, tuple[model.Constraint, ...]] | None:
        """Target, depth and constraints of an alias; reports a cycle once."""
        if symbol.full_name in self._aliases:
            return self._aliases[symbol.full_name]
        if symbol in self._open_aliases:
            loop = self._open_aliases[self._open_aliases.index(symbol) :]
            notes = [Note(f"through `{each.name}`", each.span) for each in loop[1:]]
            self._context.diagnostics.error("E0407", symbol.span, notes=notes, name=symbol.name)
            for each in loop:
                self._aliases[each.full_name] = None
            return None
        if symbol in self._limited:
            self._context.diagnostics.error("E0441", symbol.span, what=f"alias `{symbol.name}`")
            return None
        declaration = symbol.declaration
        assert isinstance(declaration, ast.AliasDecl)
        if len(self._open_aliases) >= DEPTH_LIMIT:
            self._context.diagnostics.error("E0108", declaration.type.span, limit=DEPTH_LIMIT)
            return None
        self._open_aliases.append(symbol)
        target = self._resolve(declaration.type, symbol.scope)
        self._open_aliases.pop()
        if target is None:
            return self._aliases.setdefault(symbol.full_name, None)
        self._limited.append(symbol)
        read = read_annotations(self._context, declaration.type_annotations, Place.TYPE)
        own = constraints_from(self._context, read, target[0], symbol.scope)
        self._limited.pop()
        made = (target[0], target[1], (*self.constraints_of(target[0]), *own))
        self._aliases[symbol.full_name] = made
        return made

    def _resolve(self, expression: ast.TypeExpr, scope: Scope) -> tuple[model.Type, int] | None:
        if expression not in self._known:
            self._known[expression] = None
            self._known[expression] = self._fresh(expression, scope)
        return self._known[expression]

    def _fresh(self, expression: ast.TypeExpr, scope: Scope) -> tuple[model.Type, int] | None:
        found = self._bare(expression, scope)
        if found is None or not expression.optional_marks:
            return found
        marks = expression.optional_marks
        type_, depth = found
        optional_already = isinstance(model.expand(type_), model.OptionalOf)
        if optional_already or len(marks) > 1:
            self._context.diagnostics.error("E0403", marks[0] if optional_already else marks[1])
            return None
        return model.OptionalOf(type_), depth

    def _bare(self, expression: ast.TypeExpr, scope: Scope) -> tuple[model.Type, int] | None:
        name = expression.path.text
        if name in _ARITY:
            return self._container(name, expression, scope)
        if name == "stream":
            held = expression.span.text().removeprefix("stream").rstrip("?")
            hint = f"to hold the values, write `list{held}`" if expression.arguments else None
            self._context.diagnostics.error("E0435", expression.path.span, help=hint)
            return None
        if expression.arguments is not None:
            if name in _SCALARS or self._named(expression, scope) is not None:
                hint = (
                    "limit it with `@length(16)`, or write `array<u8, 16>`"
                    if name in ("string", "bytes")
                    else None
                )
                self._context.diagnostics.error("E0402", expression.span, help=hint, name=name)
            return None
        if name in _SCALARS:
            return _SCALARS[name], 1
        word, dot, _ = name.partition(".")
        if dot and word in _SCALARS and word not in scope.modules:
            own = [coded for coded in CODED if coded.startswith(f"{word}.")]
            hint = f"codings of {word}: {', '.join(own)}" if own else f"{word} has one coding, its own"
            self._context.diagnostics.error("E0301", expression.path.span, help=hint, name=name)
            return None
        return self._named(expression, scope)

    def _named(self, expression: ast.TypeExpr, scope: Scope) -> tuple[model.Type, int] | None:
        symbol = self._context.find(expression.path, scope, _TYPES, "E0301")
        if symbol is None:
            return None
        if symbol.kind in _DECLARED:
            return model.Named(symbol.full_name, _DECLARED[symbol.kind]), 1
        if symbol.kind is Kind.ALIAS:
            alias = self.alias(symbol)
            return None if alias is None else (model.AliasOf(symbol.full_name, alias[0]), alias[1] + 1)
        notes = symbol.notes()
        if symbol.kind is Kind.ERROR:
            self._context.diagnostics.error("E0311", expression.path.span, notes=notes, name=symbol.name)
        else:
            kind, hint = symbol.kind.value, _INSTEAD.get(symbol.kind)
            self._context.diagnostics.error(
                "E0302", expression.path.span, notes=notes, help=hint, name=symbol.name, kind=kind
            )
        return None

    # Containers ---------------------------------------------------------------------------------------------

    def _container(self, name: str, expression: ast.TypeExpr, scope: Scope) -> tuple[model.Type, int] | None:
        words, arity = _ARITY[name]
        arguments = expression.arguments or ()
        if len(arguments) != arity:
            found = "none" if not arguments else str(len(arguments))
            self._context.diagnostics.error("E0401", expression.span, name=name, expected=words, found=found)
            return None
        if name == "array" and isinstance(arguments[0], ast.IntLiteral):
            hint = "the type comes first, then the length: `array<u8, 4>`"
            self._context.diagnostics.error("E0413", arguments[0].span, help=hint)
            return None
        first = self._argument(arguments[0], scope)
        if name == "array":
            return self._array(first, arguments[1], expression, scope)
        second = self._argument(arguments[1], scope) if name == "map" else None
        if first is None or (name == "map" and second is None):
            return None
        type_, depth, constraints = first
        if name == "ref":
            return self._ref(type_, depth, arguments[0], expression)
        if name == "list":
            return self._bounded(model.ListOf(type_, constraints), depth + 1, expression)
        role = "the key of a map" if name == "map" else "the element of a set"
        if not is_key(type_):
            hint = _no_key(type_, name)
            self._context.diagnostics.error(
                "E0404", arguments[0].span, help=hint, type=_words(type_), role=role
            )
            return None
        if second is None:
            return self._bounded(model.SetOf(type_, constraints), depth + 1, expression)
        made = model.MapOf(type_, second[0], constraints, second[2])
        return self._bounded(made, max(depth, second[1]) + 1, expression)

    def _ref(
        self,
        type_: model.Type,
        depth: int,
        argument: ast.TypeExpr | ast.IntLiteral | ast.BrokenExpr,
        expression: ast.TypeExpr,
    ) -> tuple[model.Type, int] | None:
        """Whether its target is an archive, and is in one, is asked where fields are lowered."""
        target = model.expand(type_)
        if isinstance(target, model.Named) and target.kind in (model.DeclKind.STRUCT, model.DeclKind.UNION):
            return self._bounded(model.RefOf(target), depth + 1, expression)
        hint = "write the `?` behind the ref: `ref<T>?`" if isinstance(target, model.OptionalOf) else None
        self._context.diagnostics.error("E0434", argument.span, help=hint, what=_words(type_))
        return None

    def _array(
        self,
        first: tuple[model.Type, int, tuple[model.Constraint, ...]] | None,
        length: ast.TypeExpr | ast.IntLiteral | ast.BrokenExpr,
        expression: ast.TypeExpr,
        scope: Scope,
    ) -> tuple[model.Type, int] | None:
        count = self._length(length, scope)
        if first is None or count is None:
            return None
        type_, depth, constraints = first
        return self._bounded(model.ArrayOf(type_, count, constraints), depth + 1, expression)

    def _length(self, length: ast.TypeExpr | ast.IntLiteral | ast.BrokenExpr, scope: Scope) -> int | None:
        """A number, or a constant: which the grammar takes for a type."""
        if isinstance(length, ast.BrokenExpr):
            return None
        count: int | None = None
        if isinstance(length, ast.IntLiteral):
            count = length.value
        elif _is_plain_name(length):
            name = ast.NameExpr(length.path, False, length.span)
            count = self._context.values.whole_number(name, scope, "the length of an array")
            if count is None:
                return None
        if count is None or not 1 <= count <= ARRAY_LIMIT:
            self._context.diagnostics.error("E0405", length.span, limit=ARRAY_LIMIT)
            return None
        return count

    def _argument(
        self, argument: ast.TypeExpr | ast.IntLiteral | ast.BrokenExpr, scope: Scope
    ) -> tuple[model.Type, int, tuple[model.Constraint, ...]] | None:
        """An element type with the constraints that hold for each element."""
        if isinstance(argument, ast.BrokenExpr):
            return None
        if isinstance(argument, ast.IntLiteral):
            self._context.diagnostics.error("E0413", argument.span)
            return None
        found = self._resolve(argument, scope)
        if found is None:
            return None
        read = read_annotations(self._context, argument.annotations, Place.TYPE)
        own = constraints_from(self._context, read, found[0], scope)
        return found[0], found[1], (*self.constraints_of(found[0]), *own)

    def _bounded(
        self, type_: model.Type, depth: int, expression: ast.TypeExpr
    ) -> tuple[model.Type, int] | None:
        if depth > DEPTH_LIMIT:
            self._context.diagnostics.error("E0108", expression.span, limit=DEPTH_LIMIT)
            return None
        return type_, depth


def _is_plain_name(argument: ast.TypeExpr) -> bool:
    """Whether what the grammar took for a type may be the name of a constant."""
    bare = argument.arguments is None and not argument.optional_marks and not argument.annotations
    return bare and argument.path.text not in _SCALARS


def _no_key(type_: model.Type, container: str) -> str:
    """What to write in place of a key that is none."""
    bare = model.expand(type_)
    if isinstance(bare, model.Primitive) and bare.scalar.is_float:
        return "floats have no order that holds for all of them: take an integer or a string"
    if isinstance(bare, model.Primitive):
        return "take an i64 of nanoseconds" if container == "map" else "write `list` in place of `set`"
    if container == "set":
        return "write `list` in place of `set`"
    return "write `list<Entry>`, with a struct `Entry { key: ...; value: ...; }`"


def _words(type_: model.Type) -> str:
    return f"`{model.spell(type_)}`"
