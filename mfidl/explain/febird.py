"""The fewest and the most bytes that the values of a type can take in febird (docs/protocol.md, 8).

Nothing is known of a custom codec, and of archive no bounds: a type that holds a value of one of them cannot
be measured, and UnmeasuredError has the reason.
"""

from dataclasses import dataclass

from mfidl import model
from mfidl.explain import rows, sizes
from mfidl.explain.closure import in_order
from mfidl.explain.example import bounds_of
from mfidl.explain.keys import fewest, most
from mfidl.explain.values import UnmeasuredError
from mfidl.model import Constraints, Scalar
from mfidl.plan.sizes import fixed_size, row_of

_EMPTY_ELEMENTS = 65_536  # the most elements without bytes that a decoder takes


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bytes; `most` None: unbounded."""

    fewest: int
    most: int | None

    def __add__(self, other: "Bounds") -> "Bounds":
        endless = self.most is None or other.most is None
        return Bounds(
            self.fewest + other.fewest,
            None if endless else (self.most or 0) + (other.most or 0),
        )

    def times(self, low: int, high: int | None) -> "Bounds":
        endless = high is None or self.most is None
        return Bounds(self.fewest * low, None if endless else (self.most or 0) * (high or 0))


NOTHING = Bounds(0, 0)


class Febird:
    """Of a program's types. Results are kept, so that asking again is cheap."""

    def __init__(self, program: model.Program) -> None:
        self._program = program
        self._bounds: dict[str, Bounds | UnmeasuredError] = {}
        self._open: list[model.Struct | model.Union] = []
        for each in in_order(program):  # what is needed first, so that no call goes deep
            if isinstance(each, model.Struct | model.Union):
                self._of_named(each)

    def _in_blocks(self, type_: model.MapOf) -> tuple[Scalar, Scalar] | None:
        """What keys and values are in blocks; None: the map is written in pairs."""
        key, value = (row_of(each, self._program.declarations) for each in (type_.key, type_.value))
        return None if key is None or value is None else (key, value)

    def bounds(self, type_: model.Type, constraints: Constraints = ()) -> Bounds:
        """The bounds of all values that the constraints allow; an @pattern is ignored."""
        match type_:
            case model.Primitive(scalar):
                return _bounds_of_scalar(scalar, constraints)
            case model.Named():
                found = self._of_named(self._program.declaration(type_.full_name))
                if isinstance(found, UnmeasuredError):
                    raise found
                return found
            case model.OptionalOf(element):
                return Bounds(1, self._most(element, constraints, 1))
            case model.ArrayOf(element, length, inner):
                return self._of_array(element, inner, length)
            case model.ListOf(element, inner):
                return self._of_list(element, inner, *model.lengths_of(constraints))
            case model.SetOf(element, inner):
                low, high = model.lengths_of(constraints)
                if row_of(element, self._program.declarations) is not None:
                    return self._of_row_set(element, inner, low, high)
                return self._of_set(element, inner, NOTHING, low, high)
            case model.MapOf(key, held, of_keys, of_values):
                low, high = model.lengths_of(constraints)
                if self._in_blocks(type_) is not None:
                    least = rows.fewest_of_map(self._program, type_, low)
                    return Bounds(least, rows.most_of_map(self._program, type_, high))
                values = self._inside(held, of_values, low)
                return self._of_set(key, of_keys, values, low, high)
            case _:
                raise UnmeasuredError("a ref exists in archive only")

    def fields_bounds(self, fields: tuple[model.Field, ...]) -> Bounds:
        """Of a struct field by field, whatever its tier is."""
        return sum((self.bounds(each.type, each.constraints) for each in fields), NOTHING)

    def alternatives_bounds(self, union: model.Union) -> Bounds:
        all_of_them = [
            self.bounds(each.type, each.constraints)
            + Bounds(sizes.count(each.number or 0), sizes.count(each.number or 0))
            for each in union.alternatives
        ]
        highs = [each.most for each in all_of_them]
        endless = any(each is None for each in highs)
        return Bounds(
            min((each.fewest for each in all_of_them), default=0),
            None if endless else max((each for each in highs if each is not None), default=0),
        )

    def _most(self, element: model.Type, constraints: Constraints, more: int) -> int | None:
        """The most of an element that may also be left out; one that leads back to itself has no end."""
        found = self._inside(element, constraints, 0)
        return None if found.most is None else found.most + more

    def _inside(self, element: model.Type, constraints: Constraints, low: int) -> Bounds:
        """Of the contents of a container that holds at least `low`: recursion ends here, where it may."""
        if low == 0 and self._leads_back(element):
            return Bounds(0, None)
        return self.bounds(element, constraints)

    def _leads_back(self, type_: model.Type) -> bool:
        match type_:
            case model.Named(full_name, _):
                return bool(self._open) and full_name in self._open[-1].cycle
            case model.ArrayOf(element, _, _):
                return self._leads_back(element)
            case _:
                return False

    def _of_array(self, element: model.Type, constraints: Constraints, length: int) -> Bounds:
        if row_of(element, self._program.declarations) is None:
            return self.bounds(element, constraints).times(length, length)
        codes = rows.extremes(self._program, element, constraints)
        return Bounds(*(rows.bound(code, length, counted=False) for code in codes))

    def _of_row_set(
        self, element: model.Type, constraints: Constraints, low: int, high: int | None
    ) -> Bounds:
        least = rows.fewest_of_set(self._program, element, constraints, low)
        return Bounds(least, rows.most_of_set(self._program, element, constraints, high))

    def _of_list(self, element: model.Type, constraints: Constraints, low: int, high: int | None) -> Bounds:
        if row_of(element, self._program.declarations) is not None:
            narrow, wide = rows.extremes(self._program, element, constraints)
            top = None if high is None else rows.bound(wide, high, counted=True)
            return Bounds(rows.bound(narrow, low, counted=True), top)
        inside = self._inside(element, constraints, low)
        if high is None and inside.most == 0:
            high = _EMPTY_ELEMENTS
        if high == 0:
            return Bounds(1, 1)
        ends = Bounds(sizes.count(low), None if high is None else sizes.count(high))
        return ends + inside.times(low, high)

    def _of_set(
        self, key: model.Type, constraints: Constraints, values: Bounds, low: int, high: int | None
    ) -> Bounds:
        """Of `low` to `high` different keys, each with a value."""
        least = fewest(self._program, key, constraints, low)
        top = most(self._program, key, constraints, high)
        smallest = sizes.count(low) + least + values.fewest * low
        if top is None or values.most is None:
            return Bounds(smallest, None)
        count, size = top
        return Bounds(smallest, sizes.count(count) + size + values.most * count)

    def _of_named(self, declaration: model.Declaration) -> "Bounds | UnmeasuredError":
        name = declaration.full_name
        if name in self._bounds:
            return self._bounds[name]
        if not isinstance(declaration, model.Struct | model.Union):
            return self._of_declaration(declaration)
        if declaration in self._open:
            return UnmeasuredError(f"`{declaration.name}` holds itself without end")
        self._open.append(declaration)
        try:
            found: Bounds | UnmeasuredError = self._of_declaration(declaration)
        except UnmeasuredError as failure:
            found = failure
        self._open.pop()
        self._bounds[name] = found
        return found

    def _of_declaration(self, declaration: model.Declaration) -> Bounds:
        match declaration:
            case model.Enum(base=base, open=False, members=members):
                found = [sizes.integer(base.scalar, each.number) for each in members]
                return Bounds(min(found), max(found))
            case model.Enum(base=base) | model.Flags(base=base):
                return _bounds_of_scalar(base.scalar, ())
            case model.Union():
                return self.alternatives_bounds(declaration)
            case model.Struct(layout=layout) if layout is not None:
                return Bounds(layout.size, layout.size)
            case model.Struct():
                _refuse_foreign(declaration)
                return self.fields_bounds(declaration.fields)
            case model.Alias():
                raise AssertionError("aliases are expanded in the model")


def of_custom(full_name: str) -> UnmeasuredError:
    return UnmeasuredError(f"only the codec of `{full_name.rpartition('.')[2]}` knows its bytes")


def _refuse_foreign(declaration: model.Struct | model.Union) -> None:
    if declaration.tier is model.Tier.CUSTOM:
        raise of_custom(declaration.full_name)
    if declaration.tier is model.Tier.ARCHIVE:
        raise UnmeasuredError(f"it holds `{declaration.name}`, which is archive")


def _bounds_of_scalar(scalar: Scalar, constraints: Constraints) -> Bounds:
    fixed = fixed_size(scalar)
    if fixed is not None:
        return Bounds(fixed, fixed)
    if scalar in (Scalar.STRING, Scalar.BYTES):
        low, high = model.lengths_of(constraints)
        return Bounds(sizes.count(low) + low, None if high is None else sizes.count(high) + high)
    return Bounds(*sizes.extremes(scalar.held, *bounds_of(scalar, constraints)))
