"""F6. Values drawn from a schema: those at the limits of every type, and random ones. The same seed gives the
same values.
"""

import random
from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.constraints import PatternText, bounds, satisfies, texts
from mfidl.dynamic.edges import edges
from mfidl.dynamic.objects import reachable
from mfidl.dynamic.schema import Schema
from mfidl.dynamic.value import Graph, Value
from mfidl.model import Constraints, Tier

_DEEPEST = 4  # below this level, everything that may be empty or absent is
_ENDLESS = 64  # deeper values are treated as endless, since readers accept no more
_MOST_BORDERS = 40
_LONG = 300  # elements: more than one block of a row
# Picks one of several values.
_Pick = Callable[[list[Value]], Value]


class Undrawable(Exception):  # noqa: N818 - a fact about a type, which the caller reports
    """No value can be drawn: for custom types, whose bytes only their codec makes, and types that hold one;
    for graphs that, through another tier, hold graphs like themselves without end; and if no value was found
    that satisfies a constraint.
    """


class Sampler:
    def __init__(self, schema: Schema, seed: str, pattern_text: PatternText) -> None:
        self._schema = schema
        self._random = random.Random(seed)
        self._pattern_text = pattern_text
        self._tables: dict[str, int] | None = None  # of the graph that is being drawn
        self._pick: _Pick = self._random.choice
        self._turn: int | None = None

    def borders(self, type_: model.Type, constraints: Constraints = ()) -> list[Value]:
        """Each position cycles through its limits, all positions at once."""
        found = []
        for turn in range(self._turns(type_, set())):
            self._turn = turn
            self._pick = lambda values: values[self._step() % len(values)]
            found.append(self._value(type_, constraints, 0))
        self._turn, self._pick = None, self._random.choice
        return found

    def random(self, type_: model.Type, constraints: Constraints = ()) -> Value:
        return self._value(type_, constraints, 0)

    def _step(self) -> int:
        assert self._turn is not None
        return self._turn

    def _turns(self, type_: model.Type, seen: set[str]) -> int:
        """The number of values after which the position with the most limits has shown all of them."""
        match type_:
            case model.ListOf(element) | model.SetOf(element) | model.ArrayOf(element, _):
                return max(3, self._turns(element, seen))
            case model.OptionalOf(element):
                return 1 + self._turns(element, seen)
            case model.MapOf(key, value):
                return max(self._turns(key, seen), self._turns(value, seen))
            case model.RefOf():
                return 2
            case model.Named(full_name, kind) if self._schema.number(type_) is None:
                if full_name in seen:
                    return 1
                seen.add(full_name)
                is_union = kind is model.DeclKind.UNION
                held = model.members(self._schema.union(type_) if is_union else self._schema.struct(type_))
                most = max((self._turns(each.type, seen) for each in held), default=1)
                return min(_MOST_BORDERS, max(most, len(held) if is_union else 1))
            case _:
                return min(_MOST_BORDERS, len(edges(self._schema, type_)))

    def _value(self, type_: model.Type, constraints: Constraints, depth: int) -> Value:
        match type_:
            case model.OptionalOf(element):
                return self._optional(element, constraints, depth)
            case model.ListOf(element, inner):
                count = self._count(constraints, depth, element)
                return [self._value(element, inner, depth + 1) for _ in range(count)]
            case model.ArrayOf(element, length, inner):
                return [self._value(element, inner, depth + 1) for _ in range(length)]
            case model.SetOf(element, inner):
                return self._keys(element, inner, constraints, depth)
            case model.MapOf(key, value, of_keys, of_values):
                keys = self._keys(key, of_keys, constraints, depth)
                return {each: self._value(value, of_values, depth + 1) for each in keys}
            case model.RefOf(element):
                assert self._tables is not None
                return self._random.randrange(self._tables[element.full_name])
            case model.Named() if self._schema.number(type_) is None:
                return self._declared(type_, depth)
            case _:
                return self._scalar(type_, constraints)

    def _optional(self, element: model.Type, constraints: Constraints, depth: int) -> Value:
        if depth >= _DEEPEST and not isinstance(element, model.Primitive):
            return None
        absent = self._turn == 0 if self._turn is not None else self._random.random() < 0.3
        return None if absent else self._value(element, constraints, depth + 1)

    def _count(self, constraints: Constraints, depth: int, element: model.Type) -> int:
        low, high = model.lengths_of(constraints)
        if high is not None and low > high:
            raise Undrawable(f"no length is from {low} to {high}")
        if depth >= _DEEPEST:
            return low
        if self._turn is not None:
            plain = self._schema.number(element) is not None and depth <= 1
            wanted = (0, 1, 3, _LONG if plain else 2)[self._turn % 4]
        else:
            wanted = self._random.choice((0, 1, 1, 2, 3, 5))
        return max(low, wanted if high is None else min(wanted, high))

    def _keys(
        self, type_: model.Type, inner: Constraints, constraints: Constraints, depth: int
    ) -> list[Value]:
        low, _ = model.lengths_of(constraints)
        found: dict[Value, None] = {}
        count = self._count(constraints, depth, type_)
        choices = self._choices(type_, inner)
        start = self._turn or 0
        for index in range(4 * count + 4):
            if len(found) >= count:
                break
            one = (
                choices[(start + index) % len(choices)]
                if self._turn is not None
                else self._draw(type_, inner)
            )
            found[one] = None
        if len(found) < low:
            found.update(dict.fromkeys(choices))
        if len(found) < low:
            raise Undrawable(f"fewer than {low} different values of {model.spell(type_)} were found")
        return sorted(found)

    def _declared(self, type_: model.Named, depth: int) -> Value:
        tier = self._schema.tier(type_)
        if tier is Tier.CUSTOM:
            raise Undrawable(f"only its codec knows the bytes of {type_.full_name}")
        if depth > _ENDLESS:
            raise Undrawable(f"a value of {type_.full_name} has no end")
        tables = self._schema.tables(type_.full_name) if tier is Tier.ARCHIVE else {}
        if tables and self._tables is None:
            return self._graph(type_, list(tables), depth)
        outer = self._tables
        if tier is not Tier.ARCHIVE:
            self._tables = None
        value = self._members(type_, depth)
        self._tables = outer
        return value

    def _graph(self, root: model.Named, tables: list[str], depth: int) -> Graph:
        self._tables = {name: self._random.randint(1, 3) for name in tables}
        objects = {}
        for name, count in self._tables.items():
            declaration = self._schema.program.declaration(name)
            assert isinstance(declaration, model.Struct | model.Union)
            objects[name] = [self._members(declaration.reference, depth) for _ in range(count)]
        self._tables = None
        return reachable(self._schema.shape(root), Graph(objects))

    def _members(self, type_: model.Named, depth: int) -> Value:
        if type_.kind is model.DeclKind.UNION:
            alternatives = list(self._schema.union(type_).alternatives)
            if depth >= _DEEPEST:
                alternatives = sorted(alternatives, key=self._weight)[:1]
            chosen = self._pick(alternatives)
            return {chosen.name: self._value(chosen.type, chosen.constraints, depth + 1)}
        fields = self._schema.struct(type_).fields
        return {each.name: self._value(each.type, each.constraints, depth + 1) for each in fields}

    def _weight(self, field: model.Field) -> int:
        """The depth of an alternative: 0 if it ends at once."""
        match field.type:
            case model.Named() if self._schema.number(field.type) is None:
                return 2
            case model.ArrayOf():
                return 1
            case _:
                return 0

    # Scalars ------------------------------------------------------------------------------------------------

    def _scalar(self, type_: model.Type, constraints: Constraints) -> Value:
        if self._turn is not None:
            return self._pick(self._choices(type_, constraints))
        return self._draw(type_, constraints)

    def _choices(self, type_: model.Type, constraints: Constraints) -> list[Value]:
        """The borders that the constraints leave."""
        offered = [*edges(self._schema, type_), *bounds(constraints)]
        if type_ == model.Primitive(model.Scalar.STRING):
            offered += texts(constraints, self._pattern_text)
        elif type_ == model.Primitive(model.Scalar.BYTES):
            offered += [text.encode() for text in texts(constraints, self._pattern_text)]
        good = [each for each in offered if satisfies(each, constraints, type_)]
        if not good:
            raise Undrawable(f"no {model.spell(type_)} was found that satisfies its constraints")
        return good

    def _draw(self, type_: model.Type, constraints: Constraints) -> Value:
        """A random value; one of the borders, where random ones are hard to find."""
        for _ in range(4):
            value = self._any(type_)
            if satisfies(value, constraints, type_):
                return value
        return self._random.choice(self._choices(type_, constraints))

    def _any(self, type_: model.Type) -> Value:
        number = self._schema.number(type_)
        if number is not None and number.held.is_integer and not self._schema.is_closed(type_):
            low, high = number.held.limits()
            bits = self._random.randint(0, number.held.bits)
            near = self._random.getrandbits(bits) * self._random.choice((1, -1) if low else (1,))
            return min(max(near, low), high)
        match type_:
            case model.Primitive(model.Scalar.STRING):
                letters = self._random.choices('abc xyzé€😀"\\\n', k=self._random.randint(0, 12))
                return "".join(letters)
            case model.Primitive(model.Scalar.BYTES):
                return self._random.randbytes(self._random.randint(0, 12))
            case model.Primitive(model.Scalar.UUID):
                return self._random.randbytes(16)
            case model.Primitive(model.Scalar.F64 | model.Scalar.F32):
                return float(self._random.randint(-(1 << 12), 1 << 12)) / 2 ** self._random.randint(0, 8)
            case _:
                return self._random.choice(edges(self._schema, type_))
