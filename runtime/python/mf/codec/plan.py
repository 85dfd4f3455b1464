"""R1. The plan of a type for the native codec: what its shape says, as numbers and plain objects.

`describe(shape)` makes a tuple of nodes, which refer to each other by index; the first one is the type
itself. The module `_mf_native` (runtime/python-native/src/plan.hpp) reads it, and uses no shapes. The numbers
of `Op`, `Form`, `Make`, `Mode` and `TestKind` are the same there.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import partial
from typing import Any, Final

from mf.codec import shape as s
from mf.codec import sizes
from mf.codec.archive_form import integer_of, is_zigzag, wire_of
from mf.codec.archive_values import uncharged
from mf.codec.arrays import array_bytes, native_reader
from mf.codec.construct import slot_of
from mf.codec.contents import bare
from mf.codec.custom import user_codec
from mf.codec.layout import places, rules_of
from mf.codec.limits import U64_MAX
from mf.codec.rules import HasLength, InRange, IsFinite, Rule
from mf.codec.times import Duration, Timestamp
from mf.core.archive_struct import ArchiveStruct
from mf.core.plain_struct import PlainStruct

Node = tuple[Any, ...]
_MOST: Final = 1 << 60  # of memory and sizes, which the native codec counts in 64 bits
_EXACT: Final = 1 << 53  # integers up to here are floats as well


class NotCoveredError(Exception):
    """The native codec cannot take this type; the message says why."""


# The numbers of all these are their places, from 0 on.

Op = IntEnum(
    "Op",
    "boolean u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 timestamp duration uuid string bytes "
    "enumeration checked optional list set array map structure alternatives custom reference",
    start=0,
)

Form = IntEnum("Form", "none plain two_s_complement zigzag fixed32 fixed64", start=0)
"""How a number is encoded behind its tag."""

Make = IntEnum("Make", "slots call tuple bare nothing", start=0)
"""How a struct is made of its fields."""

Mode = IntEnum("Mode", "single list set array map", start=0)
"""What a field of an archive holds."""

TestKind = IntEnum("TestKind", "whole real length finite call", start=0)


_CONTAINERS: Final[dict[type, Op]] = {
    s.Optional: Op.optional,
    s.List: Op.list,
    s.Set: Op.set,
    s.Array: Op.array,
}

_MADE: Final[dict[Any, Make]] = {
    s.parts_made: Make.tuple,
    s.bare_made: Make.bare,
    s.nothing_made: Make.nothing,
}
_MODES: Final[dict[type, Mode]] = {
    s.List: Mode.list,
    s.Set: Mode.set,
    s.Array: Mode.array,
    s.Map: Mode.map,
}


def describe(root: s.Composite) -> tuple[Node, ...]:
    """Raises NotCoveredError."""
    return _Nodes().of(root)


def classes_in(nodes: Iterable[Node]) -> Iterator[type]:
    """Those whose objects are no more than their slots."""
    for op, *_, extra in nodes:
        if op == Op.structure and extra[2] == Make.slots:
            yield extra[0]


class _Nodes:
    def __init__(self) -> None:
        self._places: dict[tuple[int, bool], int] = {}
        self._kept: list[s.Shape] = []  # so that no other shape gets the id of one of them
        self._waiting: list[tuple[int, s.Shape, bool]] = []
        self._made: dict[int, Node] = {}

    def of(self, root: s.Composite) -> tuple[Node, ...]:
        self._place(root, archive=root.archive)
        for at, shape, archive in self._waiting:  # grows while it is gone through
            self._made[at] = self._node(shape, archive=archive)
        return tuple(self._made[at] for at in range(len(self._made)))

    def _place(self, shape: s.Shape, *, archive: bool) -> int:
        """The index of a shape's node; `archive`: it is in a message."""
        if isinstance(shape, s.Composite):
            archive = shape.archive
        at = self._places.get((id(shape), archive))
        if at is None:
            at = self._places[id(shape), archive] = len(self._places)
            self._kept.append(shape)
            self._waiting.append((at, shape, archive))
        return at

    def _node(self, shape: s.Shape, *, archive: bool) -> Node:
        op, extra, element, key, length = self._parts(shape, archive=archive)
        row = None if archive else sizes.row_of(shape)
        return (
            int(op),
            int(_form(shape)) if archive else 0,
            int(Op[row]) if row else 0,
            wire_of(shape) if archive or isinstance(shape, s.Composite) else 0,
            element,
            key,
            min(sizes.memory(shape), _MOST),
            min(sizes.smallest(shape), _MOST),
            min(sizes.layout(shape)[0], _MOST) if sizes.has_layout(shape) else 0,
            length,
            isinstance(shape, s.Composite) and shape.archive,
            isinstance(shape, s.Struct) and shape.memcpy,
            isinstance(shape, s.Struct) and shape.implicit,
            extra,
        )

    def _parts(self, shape: s.Shape, *, archive: bool) -> tuple[Op, tuple[Any, ...], int, int, int]:
        """The op, what belongs to it, the nodes of element and key, the length."""

        def place(inner: s.Shape) -> int:
            return self._place(inner, archive=archive)

        match shape:
            case s.Scalar():
                return _op(shape), _class_of(shape), 0, 0, 0
            case s.Enum():
                return Op.enumeration, _enum(shape), 0, 0, 0
            case s.Checked():
                return Op.checked, _tests(shape.rules, shape.shape), place(shape.shape), 0, 0
            case s.Ref():
                return Op.reference, (), place(shape.element), 0, 0
            case s.Struct():
                return Op.structure, self._struct(shape), 0, 0, 0
            case s.Union():
                return Op.alternatives, self._union(shape), 0, 0, 0
            case s.Custom():
                return Op.custom, _custom(shape), 0, 0, 0
            case s.Map():
                return Op.map, self._wrapped(shape, archive), place(shape.value), place(shape.key), 0
            case _:
                length = shape.length if isinstance(shape, s.Array) else 0
                extra = self._wrapped(shape, archive)
                if isinstance(shape, s.List) and not archive and sizes.is_array_element(shape.element):
                    element = shape.element
                    structs = partial(array_bytes, element) if isinstance(element, s.Struct) else None
                    extra = native_reader(element), structs
                return _CONTAINERS[type(shape)], extra, place(shape.element), 0, length

    # --- structs and unions

    def _struct(self, shape: s.Struct) -> tuple[Any, ...]:
        make = _make(shape)
        if shape.parts not in (None, s.bare_parts, s.nothing_parts):
            raise NotCoveredError(f"values of {shape.name} are taken apart by a function")
        if shape.archive and make is not Make.slots:
            raise NotCoveredError(f"{shape.name} is of tier archive, and its class is more than its fields")
        if shape.archive:
            fields = tuple(self._numbered(each, shape.type) for each in shape.fields)
        else:
            offsets = [at for _, at in places(shape)] if shape.memcpy else [0] * len(shape.fields)
            fields = tuple(
                self._field(each.attribute, shape.type, each.shape, offset=at)
                for each, at in zip(shape.fields, offsets, strict=True)
            )
        unknown = slot_of(shape.type, "__mf_unknown__") if shape.archive else None
        return (
            shape.type,
            shape.make,
            int(make),
            shape.parts is s.bare_parts,
            unknown,
            fields,
            self._tables(shape),
        )

    def _union(self, shape: s.Union) -> tuple[Any, ...]:
        fields = tuple(
            self._field(
                "value",
                object,
                each.shape,
                archive=shape.archive,
                number=each.number,
                alternative=each.type,
            )
            for each in shape.alternatives
        )
        return object, None, int(Make.call), False, None, fields, self._tables(shape)

    def _tables(self, shape: s.Struct | s.Union) -> tuple[int, ...]:
        return tuple(self._place(each, archive=True) for each in shape.tables.values())

    def _wrapped(self, shape: s.Shape, archive: bool) -> tuple[Any, ...]:
        """The message around a container or optional in another one; its only field has the number 1."""
        if not archive:
            return ()
        field = self._numbered(s.Field("", shape, number=1), object)
        return object, None, int(Make.call), False, None, (field,), ()

    def _numbered(self, field: s.Field, owner: type) -> tuple[Any, ...]:
        """A field of a message, as mf.codec.archive_message.Place takes it."""
        shape, plain = field.shape, bare(field.shape)
        if isinstance(plain, s.Optional):
            rules = tuple(rules_of(shape))
            inner = s.Checked(plain.element, rules) if rules else plain.element
            return self._field(
                field.attribute, owner, inner, archive=True, number=field.number, is_optional=True
            )
        mode = _MODES.get(type(plain), Mode.single)
        return self._field(
            field.attribute,
            owner,
            shape if mode is Mode.single else plain,
            archive=True,
            number=field.number,
            mode=mode,
            default=field.default,
            rules=() if mode is Mode.single else tuple(rules_of(shape)),
        )

    def _field(
        self,
        attribute: str,
        owner: type,
        shape: s.Shape,
        *,
        archive: bool = False,
        number: int = 0,
        offset: int = 0,
        mode: Mode = Mode.single,
        is_optional: bool = False,
        default: Callable[[], Any] | None = None,
        rules: tuple[Rule, ...] = (),
        alternative: Any = None,
    ) -> tuple[Any, ...]:
        return (
            attribute,
            slot_of(owner, attribute),
            self._place(shape, archive=archive),
            number,
            offset,
            int(mode),
            is_optional,
            wire_of(shape),
            _charge(shape, mode),
            default,
            _tests(rules, shape),
            alternative,
            slot_of(alternative, "value"),
        )


def _op(shape: s.Scalar) -> Op:
    return Op.boolean if shape.name == "bool" else Op[shape.name]


def _class_of(shape: s.Scalar) -> tuple[Any, ...]:
    match shape.name:
        case "timestamp":
            return (Timestamp,)
        case "duration":
            return (Duration,)
        case "uuid":
            from uuid import UUID

            return (UUID,)
        case _:
            return ()


def _enum(shape: s.Enum) -> tuple[Any, ...]:
    """The base, the class, its values by number, the numbers of a closed one, and the values of 0 to 255."""
    known = dict(shape.values)
    small = tuple(known.get(each) for each in range(1 + max((n for n in known if 0 <= n < 256), default=-1)))
    numbers = None if shape.open else shape.numbers
    return int(_op(shape.base)), shape.type, shape.values, numbers, small


def _custom(shape: s.Custom) -> tuple[Any, ...]:
    """Calls what the user's codec is when a value is read or written."""
    module, name = shape.module, shape.codec
    return (
        lambda data: user_codec(module, name).decode(data),
        lambda value: user_codec(module, name).encode(value),
    )


def _form(shape: s.Shape) -> Form:
    if isinstance(shape, s.Scalar):
        if shape.coding == "fixed":
            return Form.fixed32 if shape.bits == 32 else Form.fixed64
        match shape.name:
            case "bool":
                return Form.plain
            case "f32":
                return Form.fixed32
            case "f64" | "timestamp":
                return Form.fixed64
    if not isinstance(shape, s.Scalar | s.Enum):
        return Form.none
    name = integer_of(shape)
    if name is None:
        return Form.none
    if is_zigzag(shape):
        return Form.zigzag
    return Form.plain if name[0] == "u" else Form.two_s_complement


def _charge(shape: s.Shape, mode: Mode) -> int:
    """Memory of an element of a container in a message, beside what reading it counts."""
    if mode is Mode.single:
        return 0
    assert isinstance(shape, s.List | s.Set | s.Array | s.Map)
    if isinstance(shape, s.Map):
        return min(sizes.ENTRY + uncharged(shape.key) + uncharged(shape.value), _MOST)
    return min(8 + uncharged(shape.element), _MOST)


def _make(shape: s.Struct) -> Make:
    made = _MADE.get(shape.make)
    if made is None:
        return Make.slots if _is_plain(shape) else Make.call
    return made


def _is_plain(shape: s.Struct) -> bool:
    """Whether a value is no more than its fields, each in a slot: generated constructors only fill them."""
    kind = shape.type
    if not issubclass(kind, PlainStruct) or hasattr(kind, "__post_init__"):
        return False
    attributes = [each.attribute for each in shape.fields]
    kept = ["__mf_unknown__"] if issubclass(kind, ArchiveStruct) else []
    return sorted(getattr(kind, "__match_args__", ())) == sorted(attributes) and all(
        slot_of(kind, each) is not None for each in (*attributes, *kept)
    )


# --- constraints


def _tests(rules: Iterable[Rule], shape: s.Shape) -> tuple[Any, ...]:
    return tuple(_test(each, bare(shape)) for each in rules)


def _test(rule: Rule, plain: s.Shape) -> tuple[Any, ...]:
    if isinstance(plain, s.Optional):
        plain = bare(plain.element)
    match rule:
        case InRange(low=low, high=high) if _is_integer(plain) and _are_whole(low, high):
            low = None if low is None else max(low, -1 << 63)
            high = None if high is None else min(high, U64_MAX)
            if (low is None or low <= U64_MAX) and (high is None or high >= -1 << 63):
                return int(TestKind.whole), low, high, rule.violation
        case InRange(low=low, high=high) if _is_float(plain) and _are_exact(low, high):
            return int(TestKind.real), low, high, rule.violation
        case HasLength(low=low, high=high):
            return int(TestKind.length), low, high, rule.violation
        case IsFinite() if _is_float(plain):
            return int(TestKind.finite), None, None, rule.violation
    return int(TestKind.call), None, None, rule.violation


def _is_integer(plain: s.Shape) -> bool:
    return isinstance(plain, s.Enum) or (isinstance(plain, s.Scalar) and integer_of(plain) is not None)


def _is_float(plain: s.Shape) -> bool:
    return isinstance(plain, s.Scalar) and plain.name in ("f32", "f64")


def _are_whole(*bounds: Any) -> bool:
    return all(each is None or type(each) is int for each in bounds)


def _are_exact(*bounds: Any) -> bool:
    return all(each is None or type(each) is float or abs(each) <= _EXACT for each in bounds)
