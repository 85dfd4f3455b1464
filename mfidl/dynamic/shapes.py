"""F6. The types of a program as shapes (mf.codec.shape), of which the runtime makes their codecs.

Structs and alternatives get classes as those of a peer's description do (mf.adapt.made); enums and flags are
plain numbers, and values of tier custom are bytes.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mf.adapt.made import CODED, SCALARS, OpaqueCustom, made_class, numbers
from mf.codec import rules
from mf.codec import shape as s
from mf.codec.archived import GraphAlternative, GraphStruct
from mf.core.plain_struct import PlainStruct
from mf.evolution.schema import Declared
from mfidl import model
from mfidl.dynamic.objects import of_root
from mfidl.dynamic.value import opened
from mfidl.model import Constraints, Tier
from mfidl.semantics.numbers import as_held


class Shapes:
    """The shapes of one program, each made when it is first asked for. `checked`: codecs of them refuse what
    violates a constraint.
    """

    def __init__(self, program: model.Program, *, checked: bool) -> None:
        self._program = program
        self._structs = {each.full_name: each for each in program.all_structs()}
        self._checked = checked
        self._named: dict[str, s.Shape] = {}

    def shape(self, type_: model.Type, constraints: Constraints = ()) -> s.Shape:
        """At an optional position the constraints apply to the value when it is there."""
        if isinstance(type_, model.OptionalOf):
            return s.Optional(self.shape(type_.element, constraints))
        plain = self._plain(type_)
        if not self._checked or not constraints:
            return plain
        return s.Checked(plain, tuple(rule_of(each, type_) for each in constraints))

    def _plain(self, type_: model.Type) -> s.Shape:
        match type_:
            case model.Primitive(scalar, coding):
                return SCALARS[scalar.value] if coding is None else CODED[scalar.value, coding.value]
            case model.ListOf(element, inner):
                return s.List(self.shape(element, inner))
            case model.SetOf(element, inner):
                return s.Set(self.shape(element, inner))
            case model.ArrayOf(element, length, inner):
                return s.Array(self.shape(element, inner), length)
            case model.MapOf(key, value, of_keys, of_values):
                return s.Map(self.shape(key, of_keys), self.shape(value, of_values))
            case model.RefOf(element):
                return s.Ref(self.shape(element))
            case _:
                assert isinstance(type_, model.Named)
                found = self._named.get(type_.full_name)
                return self._declared(type_) if found is None else found

    def _declared(self, type_: model.Named) -> s.Shape:
        name = type_.full_name
        match type_.kind:
            case model.DeclKind.ENUM:
                enum = self._program.enum(type_)
                members = {each.name: each.number for each in enum.members}
                found = Declared(name, "enum", base=enum.base.scalar.value, open=enum.open, members=members)
                made: s.Shape = numbers(found, closed=True)
            case model.DeclKind.FLAGS:
                flags = self._program.flags(type_)
                bits = {each.name: each.bit for each in flags.members}
                found = Declared(name, "flags", base=flags.base.scalar.value, members=bits)
                made = numbers(found, closed=True)
            case model.DeclKind.UNION:
                made = self._union(self._program.union(type_))
            case _:
                made = self._struct(self._structs[type_.full_name])
        self._named[name] = made
        return made

    def _struct(self, struct: model.Struct) -> s.Shape:
        name, archive = struct.full_name, struct.tier is Tier.ARCHIVE
        if struct.tier is Tier.CUSTOM:
            return OpaqueCustom(name)

        def fields() -> tuple[s.Field, ...]:
            return tuple(self._field(at, each, archive) for at, each in enumerate(struct.fields))

        attributes = [f"f{at}" for at in range(len(struct.fields))]
        made = made_class(name, attributes, GraphStruct if archive else PlainStruct)
        implicit = is_implicit(struct)
        return s.Struct(
            name, made, fields, memcpy=struct.tier is Tier.MEMCPY, archive=archive, implicit=implicit
        )

    def _field(self, at: int, field: model.Field, archive: bool) -> s.Field:
        shape = self.shape(field.type, field.constraints)
        number = (field.number or 0) if archive else 0
        return s.Field(field.name, shape, f"f{at}", number=number, default=self._default(field, shape))

    def _default(self, field: model.Field, shape: s.Shape) -> Callable[[], Any] | None:
        value = field.default
        return None if value is None else lambda: of_root(shape, value, opened)

    def _union(self, union: model.Union) -> s.Union:
        base = GraphAlternative if union.tier is Tier.ARCHIVE else PlainStruct
        classes = [
            made_class(f"{union.full_name}.{each.name}", ["value"], base) for each in union.alternatives
        ]

        def alternatives() -> tuple[s.Alternative, ...]:
            return tuple(
                s.Alternative(each.number or 0, each.name, made, self.shape(each.type, each.constraints))
                for each, made in zip(union.alternatives, classes, strict=True)
            )

        return s.Union(union.full_name, alternatives, archive=union.tier is Tier.ARCHIVE)


def is_implicit(struct: model.Struct) -> bool:
    """Parameters or results: no level of nesting, and no name in paths."""
    return struct.kind in (model.StructKind.PARAMS, model.StructKind.RESULTS)


@lru_cache(1024)
def rule_of(constraint: model.Constraint, type_: model.Type) -> rules.Rule:
    """The runtime's check of a constraint on values of this type."""
    match constraint:
        case model.RangeConstraint(low, high):
            return rules.InRange(_bound(low, type_), _bound(high, type_))
        case model.LengthConstraint(low, high):
            return rules.HasLength(low, high)
        case model.FiniteConstraint():
            return rules.IsFinite()
        case model.PatternConstraint(pattern):
            return rules.Matches(pattern)


def _bound(bound: float | None, type_: model.Type) -> float | None:
    """Of an f32 the f32 that is nearest, as values are."""
    return as_held(bound, type_) if isinstance(bound, float) else bound
