"""Hypothesis strategies for values of mfidl/dynamic, of any type of a schema; and the schema that its tests
share.
"""

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from mfidl import model
from mfidl.dynamic import Graph, Schema
from mfidl.model import Scalar, Tier

SCHEMA = (Path(__file__).parent / "dynamic.mfidl").read_text()


class Values:
    """`of(type)`: a strategy of values as `decode` gives them."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def of(self, type_: model.Type, depth: int = 3) -> st.SearchStrategy[Any]:
        number = self._schema.number(type_)
        if number is not None:
            return self._number(type_, number)
        match type_:
            case model.Primitive(Scalar.STRING):
                return st.text(max_size=6)
            case model.Primitive(scalar):
                exact = 16 if scalar is Scalar.UUID else None
                return st.binary(min_size=exact or 0, max_size=exact or 6)
            case model.OptionalOf(element):
                return st.none() | self.of(element, depth - 1) if depth > 0 else st.none()
            case model.RefOf():
                return st.just(0)
            case model.Named():
                return self._declared(type_, depth)
            case _:
                return self._container(type_, depth)

    def _number(self, type_: model.Type, scalar: Scalar) -> st.SearchStrategy[Any]:
        if scalar is Scalar.BOOL:
            return st.booleans()
        if isinstance(type_, model.Named) and self._schema.is_closed(type_):
            members = self._schema.program.enum(type_).members
            return st.sampled_from(sorted(each.number for each in members))
        if scalar.is_float:
            return st.floats(width=32 if scalar is Scalar.F32 else 64, allow_nan=False)
        low, high = scalar.held.limits()
        return st.integers(low, high) | st.integers(max(low, -200), min(high, 300))

    def _container(self, type_: model.Type, depth: int) -> st.SearchStrategy[Any]:
        most = 3 if depth > 0 else 0
        match type_:
            case model.ListOf(element):
                return st.lists(self.of(element, depth - 1), max_size=most) if most else st.just([])
            case model.SetOf(element):
                return (
                    st.sets(self.of(element, depth - 1), max_size=most).map(sorted) if most else st.just([])
                )
            case model.ArrayOf(element, length) if length > 16:  # a few different values, many times
                some = st.lists(self.of(element), min_size=1, max_size=3)
                return some.map(lambda few: [few[i * i % len(few)] for i in range(length)])
            case model.ArrayOf(element, length):
                return st.lists(self.of(element, depth - 1), min_size=length, max_size=length)
            case _:
                assert isinstance(type_, model.MapOf)
                if not most:
                    return st.just({})
                keys, values = self.of(type_.key, depth - 1), self.of(type_.value, depth - 1)
                return st.dictionaries(keys, values, max_size=most).map(
                    lambda each: dict(sorted(each.items()))
                )

    def _declared(self, type_: model.Named, depth: int) -> st.SearchStrategy[Any]:
        tier = self._schema.tier(type_)
        if tier is Tier.CUSTOM:
            return st.binary(max_size=5)
        if tier is Tier.ARCHIVE and self._schema.tables(type_.full_name):
            return self._graph(type_.full_name)
        return self._members(type_, depth)

    def _members(self, type_: model.Named, depth: int) -> st.SearchStrategy[Any]:
        if type_.kind is model.DeclKind.UNION:
            alternatives = self._schema.union(type_).alternatives[: None if depth > 0 else 1]
            return st.one_of([self._fields((each,), depth) for each in alternatives])
        return self._fields(self._schema.struct(type_).fields, depth)

    def _fields(self, fields: tuple[model.Field, ...], depth: int) -> st.SearchStrategy[Any]:
        """Deferred: types may hold themselves."""

        def later(field: model.Field) -> st.SearchStrategy[Any]:
            return st.deferred(lambda: self.of(field.type, depth - 1))

        return st.fixed_dictionaries({each.name: later(each) for each in fields})

    def _graph(self, root: str) -> st.SearchStrategy[Graph]:
        """Objects whose references are given numbers once it is known how many there are."""
        tables = list(self._schema.tables(root))

        @st.composite
        def graph(draw: st.DrawFn) -> Graph:
            counts = {name: draw(st.integers(1, 3)) for name in tables}
            inner = _InGraph(self._schema, counts)
            made = {}
            for name in tables:
                declared = self._schema.program.declaration(name)
                assert isinstance(declared, model.Struct | model.Union)
                objects = inner._members(declared.reference, 2)
                made[name] = [draw(objects) for _ in range(counts[name])]
            return Graph(made)

        return graph()


class _InGraph(Values):
    def __init__(self, schema: Schema, counts: dict[str, int]) -> None:
        super().__init__(schema)
        self._counts = counts

    def of(self, type_: model.Type, depth: int = 3) -> st.SearchStrategy[Any]:
        if isinstance(type_, model.RefOf):
            return st.integers(0, self._counts[type_.element.full_name] - 1)
        return super().of(type_, depth)

    def _declared(self, type_: model.Named, depth: int) -> st.SearchStrategy[Any]:
        if self._schema.tier(type_) is Tier.ARCHIVE:
            return self._members(type_, depth)
        return Values(self._schema).of(type_, depth)


# What damaged JSON is made of.
JSON_PIECES = [
    b"",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"null",
    b"-1",
    b"1e400",
    b"\\",
    b"\xff",
    b"0",
    b":",
    b"true",
]
