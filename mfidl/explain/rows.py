"""How many bytes integers take in febird where many stand together (docs/protocol.md, section 8, "Rows" and
"Maps of integers"): u16 to u64, i16 to i64, durations, and enums and flags over them.

Rows, which are lists, sets and arrays: blocks of 256 values, each in the width of its widest; a code of two
bits a block; a head with the count and the first code, which arrays do not have.

Maps of integers to integers: a count; blocks of 256 entries, of each a byte, its keys and its values, either
in the width of its widest.

Keys, and elements of sets, are different and ascend, so the narrow ones are limited. Neighbours always have
the fewest bytes: replacing values by those next to zero widens no block.
"""

from bisect import bisect_left, bisect_right

from mfidl import model
from mfidl.explain import sizes
from mfidl.explain.example import bounds_of
from mfidl.model import Constraints, Scalar
from mfidl.plan.sizes import BLOCK, row_of

_CODES = (0, 1, 2, 3)
_MANY = 1 << 24
_TRIED = 2048  # tried at either end of many places of the same kind: those between have the same size

_Span = tuple[int, int]


def extremes(program: model.Program, element: model.Type, constraints: Constraints) -> tuple[int, int]:
    """The smallest and the largest code of an element that the constraints allow."""
    scalar = row_of(element, program.declarations)
    assert scalar is not None
    known = _members(program, element)
    if known is not None:
        codes = [_code(scalar, each) for each in known]
        return min(codes), max(codes)
    low, high = _range(element, scalar, constraints)
    return _code(scalar, min(max(0, low), high)), max(_code(scalar, low), _code(scalar, high))


def bound(code: int, count: int, *, counted: bool) -> int:
    """Of `count` values, all in this width."""
    return _around(count, code, counted=counted) + (count << code)


def fewest_of_set(program: model.Program, element: model.Type, constraints: Constraints, count: int) -> int:
    """Of a set of `count` values, or of as many as there are."""
    count, found = _narrowest(program, element, constraints, count)
    return min(_around(count, first, counted=True) + inside for first, inside in found)


def most_of_set(
    program: model.Program, element: model.Type, constraints: Constraints, count: int | None
) -> int | None:
    """No set of at most `count` values takes more, and one of up to 256 takes as much where it may. None: no
    end, also where only the type bounds it, and there are more than a message has bytes.
    """
    most = _most_different(program, element, constraints, count)
    return None if most is None else bound(extremes(program, element, constraints)[1], most, counted=True)


def fewest_of_map(program: model.Program, type_: model.MapOf, count: int) -> int:
    """Of a map of `count` entries, or of as many as there are keys."""
    count, found = _narrowest(program, type_.key, type_.key_constraints, count)
    keys = min(inside for _, inside in found)
    return _around_map(count) + keys + (count << extremes(program, type_.value, type_.value_constraints)[0])


def most_of_map(program: model.Program, type_: model.MapOf, count: int | None) -> int | None:
    """As most_of_set: every block may have one key that is wide, as far as wide ones go."""
    most = _most_different(program, type_.key, type_.key_constraints, count)
    if most is None:
        return None
    of_key = extremes(program, type_.key, type_.key_constraints)[1]
    of_value = extremes(program, type_.value, type_.value_constraints)[1]
    return _around_map(most) + (most << of_key) + (most << of_value)


def _most_different(
    program: model.Program, element: model.Type, constraints: Constraints, count: int | None
) -> int | None:
    available, _ = _spans(program, element, constraints)
    if count is None:
        return None if available > _MANY else available
    return min(count, available)


def _range(element: model.Type, scalar: Scalar, constraints: Constraints) -> tuple[int, int]:
    declared = element.scalar if isinstance(element, model.Primitive) else scalar
    return bounds_of(declared, constraints)


def _members(program: model.Program, element: model.Type) -> set[int] | None:
    """The values of a closed enum."""
    if not isinstance(element, model.Named):
        return None
    declaration = program.declaration(element.full_name)
    if not isinstance(declaration, model.Enum) or declaration.open:
        return None
    return {each.number for each in declaration.members}


def _spans(program: model.Program, element: model.Type, constraints: Constraints) -> tuple[int, list[_Span]]:
    """How many values there are, and for each code the index, in ascending order of all values, of the first
    value that it holds, and of the first one after those.
    """
    scalar = row_of(element, program.declarations)
    assert scalar is not None
    held = [_held(scalar, code) for code in _CODES]
    known = _members(program, element)
    if known is not None:
        every = sorted(known)
        return len(every), [(bisect_left(every, bottom), bisect_right(every, top)) for bottom, top in held]
    low, high = _range(element, scalar, constraints)
    available = high - low + 1
    starts = [min(max(0, bottom - low), available) for bottom, _ in held]
    ends = [min(max(0, top + 1 - low), available) for _, top in held]
    return available, list(zip(starts, ends, strict=True))


def _narrowest(
    program: model.Program, element: model.Type, constraints: Constraints, count: int
) -> tuple[int, list[tuple[int, int]]]:
    """Of runs of `count` neighbours, or of all there are, one of which takes the fewest bytes: the code of
    the first block, and the bytes of the values.
    """
    available, spans = _spans(program, element, constraints)
    count = min(count, available)
    return count, [_of_window(spans, first, count) for first in _windows(spans, available - count, count)]


def _windows(spans: list[_Span], last: int, count: int) -> set[int]:
    """The places, up to `last`, where those runs begin: at which a block just fits into a width, or the run
    begins or ends at a limit.
    """
    found = {0, last}
    for begin, end in spans:
        found |= {*_steps(begin, last, count), *_steps(end, last, count), end - count}
    return {each for each in found if 0 <= each <= last}


def _steps(at: int, last: int, count: int) -> list[int]:
    """Where a run of `count` may begin so that one of its blocks begins or ends at `at`."""
    blocks = range(max(0, -(-(at - last) // BLOCK)), min(count, at) // BLOCK + 1)
    tried = {*blocks[:_TRIED], *blocks[-_TRIED:]}
    return [at - BLOCK * each for each in tried]


def _of_window(spans: list[_Span], first: int, count: int) -> tuple[int, int]:
    """The size of the values at `first` and after it; whole blocks are counted without a look at their
    values."""
    full, rest = divmod(count, BLOCK)
    inside, before = 0, 0
    for code, (start, end) in enumerate(spans):
        here = max(before, min(full, (end - first) // BLOCK) - max(0, -(-(start - first) // BLOCK)))
        inside += (here - before) * (BLOCK << code)
        before = here
    if rest:
        inside += rest << _code_of_run(spans, first + full * BLOCK, first + count)
    return _code_of_run(spans, first, first + min(count, BLOCK)) if count else 0, inside


def _code_of_run(spans: list[_Span], start: int, end: int) -> int:
    return next(code for code in _CODES if spans[code][0] <= start and end <= spans[code][1])


def _held(scalar: Scalar, code: int) -> tuple[int, int]:
    """The values that fit into a width."""
    bits = 8 << code
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if scalar.is_signed else (0, (1 << bits) - 1)


def _code(scalar: Scalar, number: int) -> int:
    return next(code for code in _CODES if _held(scalar, code)[0] <= number <= _held(scalar, code)[1])


def _around(count: int, first: int, *, counted: bool) -> int:
    """The head, and the codes behind it."""
    blocks = -(-count // BLOCK)
    if not counted:
        return -(-blocks // 4)
    return sizes.count(count * 4 + first) + -(-max(0, blocks - 1) // 4)


def _around_map(count: int) -> int:
    """The count, and a byte a block."""
    return sizes.count(count) + -(-count // BLOCK)
