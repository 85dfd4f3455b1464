"""A description as the text of a schema (docs/language.md), with the layouts of memcpy structs as comments.
Documentation and deadlines are not described, so they are not there. `mfidlc check` takes it, but for custom
and nested types, and those of other modules, whose places are not described.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mf.described import (
    ArrayOf,
    Declared,
    Description,
    Field,
    Fields,
    Line,
    ListOf,
    MapOf,
    Method,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    Schema,
    SetOf,
    Type,
    line_tree,
)
from mf_tools.literals import Literals

_SIZES = {"bool": 1, "timestamp": 8, "duration": 8, "f32": 4, "f64": 8}


def _annotations(about: Line) -> list[str]:
    """Constraints and earlier names, as a schema writes them."""
    was = [each.rest for each in about.under if each.word == "was"]
    made = [f"@was({', '.join(f'{chr(34)}{name}{chr(34)}' for name in was)})"] if was else []
    for each in about.under:
        if each.word == "constraint":
            name, _, argument = each.rest.partition(" ")
            made.append(f"@{name}({argument})" if argument else f"@{name}")
    return made


class Rendering:
    def __init__(self, schema: Schema, description: Description) -> None:
        self._schema = schema
        annex = line_tree(description.annex, "annex") if description.annex else Line()
        self._types = {each.rest: each for each in annex.under if each.word == "type"}
        self._head = annex.get("annex")
        self._module = schema.name.rpartition(".")[0]
        self._layouts = Layouts(schema)
        self._literals = Literals(schema, self._name)

    def lines(self) -> Iterator[str]:
        schema = self._schema
        modules = dict.fromkeys(map(self._module_of, schema.types))
        for module in modules:
            if module != self._module:
                yield f"// of module {module}, a file of its own:"
                yield from self._declared(module)
        yield f"module {self._module};" if self._module else "// without a module"
        yield ""
        if schema.per is not None:
            yield f"agent {schema.per[0]}: {self.type(schema.per[1])};"
            yield ""
        yield from self._declared(self._module)
        if schema.kind == "topic":
            assert schema.value is not None
            yield self._topic(schema.value)
        else:
            yield f"service {schema.short}{self._per()} {{"
            for method in schema.methods.values():
                yield f"  {self.method(method)}"
            yield "}"

    def _declared(self, module: str) -> Iterator[str]:
        for name, declared in self._schema.types.items():
            if self._module_of(name) == module:
                yield from self.declared(declared)
                yield ""

    def _per(self) -> str:
        return f" per {self._schema.per[0]}" if self._schema.per is not None else ""

    def _topic(self, value: Type) -> str:
        kept = [each for each in self._head.under if each.word in ("replay", "overflow")]
        said = "".join(f"@{each.word}({each.rest.replace(' ', ', ')}) " for each in kept)
        return f"{said}topic {self._schema.short}{self._per()} : {self.type(value)};"

    # Methods

    def method(self, method: Method) -> str:
        said = self._head.get("method", method.name)
        was = [each for each in _annotations(said) if each.startswith("@was")]
        params = self._fields(method.params, said.get("params"))
        if method.params_stream is not None:
            params.append(self._stream("values", method.params_stream, said.get("params_stream"), params))
        before = [*was, *(["@oneway"] if method.oneway else [])]
        if method.replicated:
            before.append(f"@replicated(pattern = {method.replicated})")
        text = " ".join([*before, f"{method.name}({', '.join(params)})"])
        results = self._results(method, said)
        throws = ", ".join(map(self._name, method.throws))
        return text + (f" -> {results}" if results else "") + (f" throws {throws}" if throws else "") + ";"

    def _stream(self, name: str, type_: Type, said: Line, others: list[str]) -> str:
        while any(each.split(":")[0] == name for each in others):
            name += "_"
        return f"{name}: stream<{self.type(type_, said)}>"

    def _results(self, method: Method, said: Line) -> str:
        if method.results_stream is not None:
            return f"stream<{self.type(method.results_stream, said.get('results_stream'))}>"
        fields, about = method.results.fields, said.get("results")
        if len(fields) == 1 and fields[0].name == "value":
            return self.type(fields[0].type, about.get("value"))
        return f"({', '.join(self._fields(method.results, about))})" if fields else ""

    def _fields(self, fields: Fields, said: Line) -> list[str]:
        return [self.field(each, said.get(each.name), False) for each in fields.fields]

    def field(self, field: Field, said: Line, numbered: bool) -> str:
        number = f"{field.number}: " if numbered else ""
        default = None if field.default is None else self._literals.of(field.type, field.default)
        text = f"{number}{field.name}: {self.type(field.type, said)}"
        was = [each for each in _annotations(said) if each.startswith("@was")]
        return text + (f" {' '.join(was)}" if was else "") + (f" = {default}" if default else "")

    # Types

    def type(self, type_: Type, said: Line | None = None) -> str:
        """`said`: what the annex has about a value of it."""
        said = said or Line()
        constraints = [each for each in _annotations(said) if not each.startswith("@was")]
        return " ".join([self._bare(type_, said), *constraints])

    def _bare(self, type_: Type, said: Line) -> str:
        match type_:
            case Scalar(name, coding):
                return f"{name} @{coding}" if coding else name
            case Named(name):
                return self._name(name)
            case ListOf(element):
                return f"list<{self.type(element, said.get('element'))}>"
            case SetOf(element):
                return f"set<{self.type(element, said.get('element'))}>"
            case MapOf(key, value):
                return f"map<{self.type(key, said.get('key'))}, {self.type(value, said.get('value'))}>"
            case ArrayOf(element, length):
                return f"array<{self.type(element, said.get('element'))}, {length}>"
            case OptionalOf(element):
                return f"{self._bare(element, said)}?"
            case RefTo(element):
                return f"ref<{self.type(element)}>"

    def _module_of(self, name: str) -> str:
        """As far as names say it: what is nested in a type of this module has more components."""
        return self._module if name.startswith(f"{self._module}.") else name.rpartition(".")[0]

    def _name(self, name: str) -> str:
        return name.removeprefix(f"{self._module}.") if self._module else name

    def declared(self, declared: Declared) -> Iterator[str]:
        said = self._types.get(declared.name, Line())
        if declared.base:
            members = ", ".join(f"{name} = {number}" for name, number in declared.numbers.items())
            is_open = "open " if declared.kind == "enum" and declared.open else ""
            yield f"{is_open}{declared.kind} {self._name(declared.name)}: {declared.base} {{ {members} }}"
            return
        if declared.tier == "custom":
            yield f"@tier(custom) struct {self._name(declared.name)};  // its codec is not described"
            return
        numbered = declared.tier == "archive" or declared.kind == "union"
        layout = self._layouts.of(declared)
        about = f"  // {layout.size} bytes, aligned to {layout.align}" if layout is not None else ""
        tier = "" if declared.kind == "error" else f"@tier({declared.tier}) "
        yield f"{tier}{declared.kind} {self._name(declared.name)} {{{about}"
        for at, each in enumerate(declared.fields):
            place = f"  // at {layout.offsets[at]}" if layout is not None else ""
            yield f"  {self.field(each, said.get(each.name), numbered)};{place}"
        yield "}"


@dataclass(slots=True, frozen=True)
class Layout:
    size: int
    align: int
    offsets: tuple[int, ...] = ()


class Layouts:
    """Of memcpy structs: scalars at multiples of their size (docs/protocol.md, section 8)."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._known: dict[str, Layout] = {}

    def of(self, declared: Declared) -> Layout | None:
        if declared.tier != "memcpy":
            return None
        found = self._known.get(declared.name)
        if found is None:
            found = self._known[declared.name] = self._made(declared)
        return found

    def _made(self, declared: Declared) -> Layout:
        at, align, offsets = 0, 1, []
        for each in declared.fields:
            size, own = self.measure(each.type)
            at = -(-at // own) * own
            offsets.append(at)
            at += size
            align = max(align, own)
        return Layout(-(-at // align) * align, align, tuple(offsets))

    def measure(self, type_: Type) -> tuple[int, int]:
        """Size and alignment. Reading has made sure that it has them."""
        match type_:
            case Scalar("uuid"):
                return 16, 1
            case Scalar(name):
                size = _SIZES.get(name) or int(name[1:]) // 8
                return size, size
            case ArrayOf(element, length):
                size, align = self.measure(element)
                return size * length, align
            case Named(name):
                declared = self._schema.types[name]
                if declared.base:
                    size = int(declared.base[1:]) // 8
                    return size, size
                found = self.of(declared)
                assert found is not None
                return found.size, found.align
            case _:
                raise AssertionError(type_)
