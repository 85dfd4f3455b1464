"""F6. One struct or union as a message: fields, wrappers for what proto2 cannot nest, a table for graphs."""

from collections.abc import Iterable, Iterator

from mfidl import model
from mfidl.emit.naming import Scope, camel, snake
from mfidl.emit.proto.literals import default
from mfidl.emit.proto.names import ModuleNames, entry_name, json_names
from mfidl.emit.proto.types import MAP_KEYS, Closure

_Repeated = model.ListOf | model.SetOf | model.ArrayOf


class Messages:
    """Writes messages of one file. `inner` are the lines of what a message has besides its fields."""

    def __init__(self, program: model.Program, closure: Closure, names: dict[str, ModuleNames]) -> None:
        self._program = program
        self._closure = closure
        self._names = names

    def struct(self, struct: model.Struct, inner: Iterable[list[str]]) -> list[str]:
        message = _Message(self, struct.fields, self._owner(struct.full_name).inside(struct.full_name))
        for field in struct.fields:
            message.add(field)
        return self._whole(struct, message, inner)

    def union(self, union: model.Union, inner: Iterable[list[str]]) -> list[str]:
        message = _Message(self, union.alternatives, self._owner(union.full_name).inside(union.full_name))
        oneof = message.scope.take("alternative")
        message.lines.append(f"oneof {oneof} {{")
        inside = message.lines
        message.lines = []
        for field in union.alternatives:
            message.add(field, label="")
        message.lines = [*inside, *(f"  {line}" for line in message.lines), "}"]
        return self._whole(union, message, inner)

    def graph(self, declaration: model.Struct | model.Union, name: str) -> list[str]:
        """The table of objects of a type that refers to others, itself among them perhaps."""
        scope = Scope()
        lines = [
            "// A graph of objects: the root is the first of its table; a reference is an index in the table",
            "// of its type.",
            f"message {name} {{",
        ]
        tables = model.graph_tables(self._program.declarations, declaration)
        fields = [scope.take(snake(full_name.rpartition(".")[2])) for full_name in tables]
        in_json = json_names(fields)
        for number, (full_name, field) in enumerate(zip(tables, fields, strict=True), 1):
            option = f' [json_name = "{in_json[field]}"]' if field in in_json else ""
            lines.append(f"  repeated {self._reference(full_name)} {field} = {number}{option};")
        return [*lines, "}"]

    def type(self, type_: model.Type) -> str:
        """A type that is not a container, as proto2 names it."""
        scalar = self._closure.scalar(type_)
        if scalar is not None:
            return scalar
        assert isinstance(type_, model.Named)
        return self._reference(type_.full_name)

    def _owner(self, full_name: str) -> ModuleNames:
        return self._names[self._program.owner(full_name).name]

    def _reference(self, full_name: str) -> str:
        return self._owner(full_name).reference(full_name)

    def packs(self, element: model.Type) -> bool:
        """Repeated numbers lie one behind the other, without a tag each."""
        if isinstance(element, model.Named) and element.kind is model.DeclKind.ENUM:
            return True
        return self._closure.scalar(element) not in (None, "string", "bytes")

    def may_be_map_value(self, type_: model.Type) -> bool:
        """Protobuf wants 0 as the first member of an enum that is the value of a map."""
        if isinstance(type_, model.Named) and self._closure.scalar(type_) is None:
            declared = self._program.declaration(type_.full_name)
            return not isinstance(declared, model.Enum) or declared.members[0].number == 0
        return True

    def note(self, type_: model.Type) -> str:
        return self._closure.note(type_)

    def default(self, field: model.Field) -> str:
        assert field.default is not None
        names = None
        plain = field.type.element if isinstance(field.type, model.OptionalOf) else field.type
        if isinstance(plain, model.Named) and self._closure.scalar(plain) is None:
            names = self._owner(plain.full_name)
        return default(field.default, plain, names, self._program)

    def _whole(
        self, declaration: model.Struct | model.Union, message: "_Message", inner: Iterable[list[str]]
    ) -> list[str]:
        name = self._owner(declaration.full_name).name(declaration.full_name)
        lines = [*comment(declaration.doc), f"message {name} {{"]
        if declaration.deprecated is not None:
            lines.append("  option deprecated = true;")
        lines += [f"  {line}" if line else "" for line in message.lines]
        lines += [f"  {line}" for line in _reserved(declaration.reserved)]
        for wrapper in [*message.wrappers, *inner]:
            lines += [f"  {line}" if line else "" for line in wrapper]
        return [*lines, "}"]


class _Message:
    """The inside of one message, while it grows."""

    def __init__(
        self, messages: Messages, fields: tuple[model.Field, ...], scope: Scope | None = None
    ) -> None:
        self._messages = messages
        self.lines: list[str] = []
        self.wrappers: list[list[str]] = []
        self.scope = Scope(field.name for field in fields) if scope is None else scope
        self._in_json = json_names(field.name for field in fields)

    def add(self, field: model.Field, label: str | None = None) -> None:
        """`label`: for a place that holds one value whatever its type, "" inside of a oneof."""
        self.lines += comment(field.doc)
        options = ["deprecated = true"] if field.deprecated is not None else []
        if field.name in self._in_json:
            options.append(f'json_name = "{self._in_json[field.name]}"')
        notes = []
        plain = field.type.element if isinstance(field.type, model.OptionalOf) else field.type
        optional = plain is not field.type
        if field.default is not None and not isinstance(plain, _Repeated | model.MapOf):
            optional = True
            text = self._messages.default(field)
            if text:
                options.insert(0, f"default = {text}")
            else:
                notes.append("has a default that cannot stand here")
        if label is not None:
            kind = self._single(field.type, field.name)
        elif plain is not field.type:
            kind, label = self._single(plain, field.name), "optional "
        else:
            kind, label = self._repeated(plain, field.name, "optional " if optional else "required ", options)
        notes.insert(0, self._messages.note(_innermost(plain)))
        said = "; ".join(note for note in notes if note)
        tail = f" [{', '.join(options)}]" if options else ""
        behind = f"  // {said}" if said else ""
        self.lines.append(f"{label}{kind} {field.name} = {field.number}{tail};{behind}")

    def _repeated(self, type_: model.Type, name: str, label: str, options: list[str]) -> tuple[str, str]:
        """(type, label) of a field; containers become `repeated` and `map`."""
        match type_:
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                kind = self._single(element, name)
                if self._messages.packs(element):
                    options.append("packed = true")
                return kind, "repeated "
            case model.MapOf(key, value):
                key_kind = self._messages.type(key)
                allowed = key_kind in MAP_KEYS and self._messages.may_be_map_value(value)
                if allowed and entry_name(name) not in self.scope:
                    self.scope.take(entry_name(name))
                    return f"map<{key_kind}, {self._single(value, name)}>", ""
                entry = self._wrapper(name, "Entry", [(key, "key"), (value, "value")], "required ")
                return entry, "repeated "
            case _:
                return self._single(type_, name), label

    def _single(self, type_: model.Type, name: str) -> str:
        """One value: containers and optionals inside of others need a message around them."""
        match type_:
            case model.ListOf() | model.SetOf() | model.ArrayOf() | model.MapOf() | model.OptionalOf():
                return self._wrapper(name, "Value", [(type_, "value")])
            case _:
                return self._messages.type(type_)

    def _wrapper(
        self, name: str, suffix: str, held: list[tuple[model.Type, str]], label: str | None = None
    ) -> str:
        wrapper = self.scope.take(camel(name) + suffix)
        fields = tuple(model.Field(word, type_, type_, number=i) for i, (type_, word) in enumerate(held, 1))
        inner = _Message(self._messages, fields)
        inner.scope.take(wrapper)
        for field in fields:
            inner.add(field, label)
        lines = [f"  {line}" for line in inner.lines]
        for nested in inner.wrappers:
            lines += [f"  {line}" for line in nested]
        self.wrappers.append([f"message {wrapper} {{", *lines, "}"])
        return wrapper


def comment(doc: str) -> list[str]:
    return [f"// {line}".rstrip() for line in doc.splitlines()]


def _reserved(reserved: model.Reserved) -> Iterator[str]:
    if reserved.numbers:
        ranges = (f"{low}" if low == high else f"{low} to {high}" for low, high in reserved.numbers)
        yield f"reserved {', '.join(ranges)};"
    if reserved.names:
        yield f"reserved {', '.join(f'{chr(34)}{name}{chr(34)}' for name in reserved.names)};"


def _innermost(type_: model.Type) -> model.Type:
    match type_:
        case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
            return _innermost(element)
        case model.OptionalOf(element):
            return _innermost(element)
        case model.MapOf(_, value):
            return _innermost(value)
        case _:
            return type_
