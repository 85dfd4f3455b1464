"""Reports of types: tier and why, layout, bytes, what the other tiers would cost."""

from dataclasses import dataclass

from mfidl import model
from mfidl.explain import obstacles, report
from mfidl.explain.example import Examples
from mfidl.explain.febird import Bounds, Febird
from mfidl.explain.layouts import Layouts
from mfidl.explain.measure import Measure
from mfidl.explain.obstacles import Obstacle
from mfidl.explain.users import Users
from mfidl.explain.values import Example, UnmeasuredError
from mfidl.explain.wording import constraints_of, full_type_text, value_text
from mfidl.plan.spelling import constraint_text, type_text

_LONG_DEFAULT = 20  # characters
_IMPLICIT = ("params", "results")

Subject = model.Struct | model.Union


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one subject. `problem` says why there is no cost, or no example."""

    example: Example
    cost: report.Cost | None
    problem: str | None


class Types:
    """Makes reports of the types of one program."""

    def __init__(self, program: model.Program) -> None:
        self.program = program
        self.febird = Febird(program)
        self._examples = Examples(program)
        self.measure = Measure(program, self._examples)
        self._layouts = Layouts(program)
        self._users = Users(program)

    def declaration(self, declaration: model.Declaration, module: str) -> report.TypeLike:
        match declaration:
            case model.Struct() | model.Union():
                return self.subject(declaration, module)
            case model.Enum() | model.Flags():
                return self._number(declaration, module)
            case model.Alias():
                texts = tuple(constraint_text(each, declaration.type) for each in declaration.constraints)
                expanded = type_text(declaration.type, module)
                return report.AliasReport(
                    "alias", model.local_name(declaration), declaration.full_name, expanded, texts
                )

    def subject(self, subject: Subject, module: str) -> report.TypeReport:
        measured = self.in_febird(subject)
        layout = self._layouts.of(subject, module) if isinstance(subject, model.Struct) else None
        stands = subject.tier is model.Tier.MEMCPY
        way = self._way(subject)
        return report.TypeReport(
            kind=_kind(subject),
            name=model.local_name(subject),
            full_name=subject.full_name,
            tier=subject.tier.value,
            asked=subject.asked_tier is not None,
            why=_why(subject, way),
            path=_path(way) if way else (),
            bindings=_bindings(subject),
            fields=tuple(self._field(each, module, measured.example) for each in model.members(subject)),
            layout=layout if stands else None,
            example=self._example_text(subject, measured),
            problem=measured.problem,
            cost=self.cost(subject, measured),
            tiers=tuple(self._tier(tier, subject, measured, layout) for tier in model.Tier),
            used_by=self._users.of(subject.full_name),
            annotations=self.annotations(subject.annotations, module),
        )

    def in_febird(self, subject: Subject) -> Measured:
        """Field by field, whatever the tier of the subject is."""
        value: Example = None
        try:
            value = self._examples.of(subject)
            if isinstance(subject, model.Union):
                bounds = self.febird.alternatives_bounds(subject)
            else:
                bounds = self.febird.fields_bounds(subject.fields)
            size = self.measure.fields(subject, value)
        except UnmeasuredError as failure:
            return Measured(value, None, str(failure))
        return Measured(value, _cost(bounds, size), None)

    def cost(self, subject: Subject, measured: Measured) -> report.Cost | None:
        """In the subject's own tier."""
        if isinstance(subject, model.Struct) and subject.layout is not None:
            size = subject.layout.size
            return report.Cost(size, size, size)
        return measured.cost if subject.tier is model.Tier.FEBIRD else None

    def given_text(self, type_: model.Type, value: model.Value, limit: int = 400) -> str:
        """A default or constant as the schema writes it, what it leaves out filled in."""
        return value_text(value, type_, self.program, limit)

    def annotations(self, annotations: model.Annotations, module: str) -> tuple[str, ...]:
        """`@owners.Owner(team = "search")`, as a module writes them, with what was given."""
        made = []
        for each in annotations:
            types = {field.name: field.type for field in self.program.annotation(each.struct).fields}
            given = ", ".join(
                f"{name} = {self.given_text(types[name], value)}" for name, value in each.fields
            )
            name = each.struct.removeprefix(f"{module}.")
            made.append(f"@{name}({given})" if given else f"@{name}")
        return tuple(made)

    def cost_of_type(
        self, type_: model.Type, constraints: tuple[model.Constraint, ...]
    ) -> report.Cost | None:
        """Of a value as it is in febird; None: not measurable."""
        try:
            example = self._examples.of_type(type_, constraints)
            return _cost(self.febird.bounds(type_, constraints), self.measure.size(type_, example))
        except UnmeasuredError:
            return None

    def _example_text(self, subject: Subject, measured: Measured) -> str | None:
        value = measured.example
        fields = value.fields if isinstance(value, model.StructValue) else ()
        has_parts = bool(fields) or isinstance(value, model.UnionValue)
        return value_text(value, subject, self.program) if has_parts else None

    def _field(self, field: model.Field, module: str, example: Example) -> report.FieldRow:
        cost = None
        try:
            bounds = self.febird.bounds(field.type, field.constraints)
            if isinstance(example, model.StructValue):
                cost = _cost(bounds, self.measure.size(field.type, dict(example.fields)[field.name]))
            else:
                cost = _cost(bounds, bounds.fewest)  # an alternative that the example does not take
        except UnmeasuredError:
            pass
        default = None
        if field.default is not None:
            default = self.given_text(field.type, field.default, _LONG_DEFAULT)
        return report.FieldRow(
            field.name,
            full_type_text(field.spelled, field.type, module),
            field.number,
            default,
            tuple(report.Check(place, text) for place, text in constraints_of(field)),
            cost,
        )

    def _way(self, subject: Subject) -> Obstacle | None:
        """Why the subject has no faster tier than it has."""
        if subject.tier is model.Tier.FEBIRD:
            return obstacles.to_memcpy(subject, self._layouts.declared)
        if subject.tier is model.Tier.ARCHIVE:
            return obstacles.to_febird(subject)
        return None

    def _tier(
        self, tier: model.Tier, subject: Subject, measured: Measured, layout: report.Layout | None
    ) -> report.TierRow:
        way = self._obstacle(tier, subject)
        cost: report.Cost | None = None
        estimate: int | None = None
        problem = None
        if tier is model.Tier.MEMCPY and layout is not None and way is None:
            cost = report.Cost(layout.size, layout.size, layout.size)
        elif tier is model.Tier.FEBIRD and way is None:
            cost, problem = measured.cost, measured.problem
        elif tier is model.Tier.ARCHIVE and _may_have_numbers(subject):
            try:
                estimate = self.measure.archive(subject, measured.example)
            except UnmeasuredError as failure:
                problem = str(failure)
        return report.TierRow(
            tier.value,
            tier is subject.tier,
            way is None,
            cost,
            estimate,
            way.text() if way else problem,
            _path(way) if way else (),
        )

    def _obstacle(self, tier: model.Tier, subject: Subject) -> Obstacle | None:
        if tier is subject.tier:
            return None
        match tier:
            case model.Tier.CUSTOM:
                return obstacles.to_custom(subject)
            case model.Tier.MEMCPY:
                return obstacles.to_memcpy(subject, self._layouts.declared)
            case model.Tier.FEBIRD:
                return obstacles.to_febird(subject)
            case model.Tier.ARCHIVE:
                return obstacles.to_archive(subject)

    def _number(self, declaration: model.Enum | model.Flags, module: str) -> report.NumberReport:
        is_enum = isinstance(declaration, model.Enum)
        bounds = self.febird.bounds(declaration.reference)
        example = self.measure.size(declaration.reference, self._examples.of_type(declaration.reference))
        members = (
            tuple(report.Member(each.name, each.number) for each in declaration.members)
            if isinstance(declaration, model.Enum)
            else tuple(report.Member(each.name, each.bit) for each in declaration.members)
        )
        return report.NumberReport(
            "enum" if is_enum else "flags",
            model.local_name(declaration),
            declaration.full_name,
            declaration.base.scalar.value,
            declaration.open if isinstance(declaration, model.Enum) else True,
            members,
            declaration.base.scalar.bits // 8,
            _cost(bounds, example),
            self.annotations(declaration.annotations, module),
        )


def _may_have_numbers(subject: Subject) -> bool:
    if isinstance(subject, model.Union):
        return True
    return subject.kind is model.StructKind.STRUCT and subject.tier is not model.Tier.CUSTOM


def _why(subject: Subject, way: Obstacle | None) -> str:
    if way is not None:
        return way.text()
    if subject.tier is model.Tier.FEBIRD:
        return "every field has a fixed size, so it could be memcpy"
    if subject.tier is model.Tier.ARCHIVE:
        return "its fields have numbers, by which older and newer schemas read its bytes"
    return subject.plan.reason


def _bindings(subject: Subject) -> tuple[str, ...]:
    if isinstance(subject, model.Union):
        return ()
    found = []
    if subject.cpp_codec is not None:
        codec = subject.cpp_codec
        found.append(f"C++ {codec.type} with {codec.codec} ({codec.header})")
    if subject.cpp_type is not None:
        found.append(f"C++ {subject.cpp_type.type} ({subject.cpp_type.header})")
    if subject.python_codec is not None:
        found.append(f"Python {subject.python_codec.module}:{subject.python_codec.codec}")
    return tuple(found)


def _kind(subject: Subject) -> str:
    return "union" if isinstance(subject, model.Union) else subject.kind.value


def _path(way: Obstacle) -> tuple[str, ...]:
    """`Outer.inner`, `Inner.name`; the fields of parameters and results have no owner with a name."""
    owners = [(owner.rpartition(".")[2], field) for owner, field in way.path]
    return tuple(field if owner in _IMPLICIT else f"{owner}.{field}" for owner, field in owners)


def _cost(bounds: Bounds, example: int) -> report.Cost:
    return report.Cost(bounds.fewest, example, bounds.most)
