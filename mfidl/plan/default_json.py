"""F5. A default of the schema as JSON (docs/json.md), on one line.

A struct names the fields that the default writes; the others are optional or have defaults of their own, and
readers of JSON put these in. A default refers to nothing: where a graph begins, its value is the only object.
"""

from collections.abc import Iterable

from mfidl import model
from mfidl.model import Scalar
from mfidl.plan.json_words import float_text, integer_text, moment_text, quoted, string_text, table_name
from mfidl.plan.layout import Declared
from mfidl.semantics.numbers import as_held


def default_json(type_: model.Type, value: model.Value, declared: Declared, *, in_graph: bool = False) -> str:
    """`type_` has no aliases in it, and `value` is one of its values; `in_graph`: for a field of a graph's
    objects."""
    return _Writer(declared, in_graph=in_graph).text(type_, value)


class _Writer:
    def __init__(self, declared: Declared, *, in_graph: bool) -> None:
        self._declared = declared
        self._in_graph = in_graph

    def text(self, type_: model.Type, value: model.Value) -> str:
        if isinstance(type_, model.OptionalOf):
            type_ = type_.element
        match value:
            case model.EnumValue(enum, _, number):
                return self._member(enum, number)
            case model.FlagsValue(flags, _, bits):
                return self._bits(flags, bits)
            case model.ListValue(elements):
                assert isinstance(type_, model.ListOf | model.SetOf | model.ArrayOf)
                return f"[{','.join(self.text(type_.element, each) for each in elements)}]"
            case model.MapValue(entries):
                assert isinstance(type_, model.MapOf)
                return _object(self._entries(type_, entries))
            case model.StructValue(_, written):
                return self._composite(type_, written)
            case model.UnionValue(_, name, held):
                return self._composite(type_, ((name, held),))
            case _:
                assert isinstance(type_, model.Primitive)
                return _scalar(type_.scalar, value)

    def _composite(self, type_: model.Type, written: Iterable[tuple[str, model.Value]]) -> str:
        assert isinstance(type_, model.Named)
        declared = self._declared[type_.full_name]
        assert isinstance(declared, model.Struct | model.Union)
        outer = self._in_graph
        self._in_graph = declared.tier is model.Tier.ARCHIVE and (
            outer or bool(model.graph_tables(self._declared, declared))
        )
        types = {each.name: each.type for each in model.members(declared)}
        text = _object([(quoted(name), self.text(types[name], held)) for name, held in written])
        if self._in_graph and not outer:
            text = f"{{{quoted(table_name(type_.full_name))}:[{text}]}}"
        self._in_graph = outer
        return text

    def _entries(
        self, type_: model.MapOf, entries: tuple[tuple[model.Value, model.Value], ...]
    ) -> list[tuple[str, str]]:
        """In the order of the keys, as on the wire."""
        ordered = sorted(entries, key=lambda entry: _order(entry[0]))
        made = []
        for key, held in ordered:
            name = self.text(type_.key, key)
            made.append((name if name.startswith('"') else f'"{name}"', self.text(type_.value, held)))
        return made

    def _member(self, full_name: str, number: int) -> str:
        enum = self._declared[full_name]
        assert isinstance(enum, model.Enum)
        name = next((each.name for each in enum.members if each.number == number), None)
        return integer_text(enum.base.scalar, number) if name is None else quoted(name)

    def _bits(self, full_name: str, bits: int) -> str:
        flags = self._declared[full_name]
        assert isinstance(flags, model.Flags)
        named = sorted((each for each in flags.members if bits >> each.bit & 1), key=lambda each: each.bit)
        rest = bits & ~sum(1 << each.bit for each in named)
        texts = [quoted(each.name) for each in named]
        return f"[{','.join([*texts, integer_text(flags.base.scalar, rest)] if rest else texts)}]"


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{name}:{text}" for name, text in members) + "}"


def _order(key: model.Value) -> tuple[int, bytes]:
    """Numbers by value, strings, bytes and uuids by their bytes."""
    match key:
        case model.EnumValue(_, _, number):
            return number, b""
        case int():
            return int(key), b""
        case str():
            return 0, key.encode()
        case _:
            assert isinstance(key, bytes)
            return 0, key


def _scalar(scalar: Scalar, value: model.Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            held = as_held(value, model.Primitive(scalar))
            return float_text(held, single=scalar is Scalar.F32)
        case int() if scalar in (Scalar.TIMESTAMP, Scalar.DURATION):
            return moment_text(scalar, value)
        case int():
            return integer_text(scalar, value)
        case _:
            assert isinstance(value, str | bytes)
            return quoted(string_text(scalar, value))
