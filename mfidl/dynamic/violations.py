"""F6. Finds the first constraint of the schema, from left to right, that a value violates. Programs refuse
such values in both directions; bytes and JSON can contain them.
"""

from dataclasses import dataclass

from mfidl import model
from mfidl.dynamic.codec import root_of, schema_of
from mfidl.dynamic.constraints import violation_of
from mfidl.dynamic.path import Path
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Graph, Value
from mfidl.model import Tier

_Constraints = tuple[model.Constraint, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


def violation(program: model.Program | Schema, type_: str | model.Type, value: Value) -> Violation | None:
    """Of a value that its type can hold, as `decode` and `from_json` give them."""
    schema = schema_of(program)
    root = root_of(schema, type_)
    walk = _Walk(schema, Path(root.name))
    reason = walk.value(root.type if isinstance(type_, str) else type_, root.constraints, value)
    return None if reason is None else Violation(str(walk.path), reason)


class _Walk:
    """Each function returns the reason, and leaves the path at the violation."""

    def __init__(self, schema: Schema, path: Path) -> None:
        self._schema = schema
        self.path = path

    def value(self, type_: model.Type, constraints: _Constraints, value: Value) -> str | None:
        if value is None:
            return None
        if isinstance(type_, model.OptionalOf):
            return self.value(type_.element, constraints, value)
        for each in constraints:
            if reason := violation_of(value, each):
                return reason
        match type_:
            case model.ListOf(element, inner) | model.SetOf(element, inner):
                return self._elements(element, inner, value)
            case model.ArrayOf(element, _, inner):
                return self._elements(element, inner, value)
            case model.MapOf():
                return self._entries(type_, value)
            case model.Named() if self._schema.is_composite(type_):
                return self._declared(type_, value)
            case _:
                return None

    def _elements(self, type_: model.Type, constraints: _Constraints, values: list[Value]) -> str | None:
        if not constraints and isinstance(type_, model.Primitive):
            return None
        for index, each in enumerate(values):
            self.path.steps.append(index)
            if reason := self.value(type_, constraints, each):
                return reason
            self.path.steps.pop()
        return None

    def _entries(self, type_: model.MapOf, entries: dict[Value, Value]) -> str | None:
        for index, (key, value) in enumerate(entries.items()):
            self.path.steps.append(index)
            reason = self.value(type_.key, type_.key_constraints, key)
            if reason := reason or self.value(type_.value, type_.value_constraints, value):
                return reason
            self.path.steps.pop()
        return None

    def _declared(self, type_: model.Named, value: Value) -> str | None:
        if self._schema.tier(type_) is Tier.CUSTOM:
            return None
        if isinstance(value, Graph):
            return self._graph(type_, value)
        declared = (
            self._schema.union(type_) if type_.kind is model.DeclKind.UNION else self._schema.struct(type_)
        )
        members = list(model.members(declared))
        if declared.tier is Tier.ARCHIVE:
            members.sort(key=lambda each: each.number or 0)
        for each in members:
            if each.name in value:
                self.path.steps.append(each.name)
                if reason := self.value(each.type, each.constraints, value[each.name]):
                    return reason
                self.path.steps.pop()
        return None

    def _graph(self, root: model.Named, graph: Graph) -> str | None:
        for full_name, table in self._schema.tables(root.full_name).items():
            declared = self._schema.program.declaration(full_name)
            assert isinstance(declared, model.Struct | model.Union)
            self.path.steps.append(table)
            if reason := self._elements(declared.reference, (), graph.tables.get(full_name, [])):
                return reason
            self.path.steps.pop()
        return None
