"""How many bytes a row of integers takes in febird (docs/protocol.md, section 8, "Rows"): lists, sets and
arrays of u16 to u64, i16 to i64, durations, and of enums and flags over them.

Blocks of 256 values, each in the width of its widest; a code of two bits a block; a head with the count and
the first code, which arrays do not have.
"""

from collections.abc import Iterable

from mfidl import model
from mfidl.explain import sizes
from mfidl.explain.example import Constraints, bounds_of
from mfidl.model import Scalar

_BLOCK = 256
_CODES = (0, 1, 2, 3)
_MANY = 1 << 24


def base_of(program: model.Program, element: model.Type) -> Scalar | None:
    """The integer that an element is in a row; None if such elements lie in no row."""
    scalar: Scalar | None = None
    match element:
        case model.Primitive():
            scalar = element.scalar
        case model.Named():
            declaration = program.declaration(element.full_name)
            if isinstance(declaration, model.Enum | model.Flags):
                scalar = declaration.base.scalar
    if scalar is Scalar.DURATION:
        return Scalar.I64
    return scalar if scalar is not None and scalar.is_integer and scalar.bits > 8 else None


def size(scalar: Scalar, numbers: Iterable[int], *, counted: bool) -> int:
    """Of these values; `counted`: with a head."""
    codes = [_code(scalar, each) for each in numbers]
    blocks = [codes[at : at + _BLOCK] for at in range(0, len(codes), _BLOCK)]
    first = max(blocks[0]) if blocks else 0
    return _around(len(codes), first, counted=counted) + sum(len(each) << max(each) for each in blocks)


def repeated(scalar: Scalar, number: int, count: int, *, counted: bool) -> int:
    """Of `count` times the same value."""
    code = _code(scalar, number)
    return _around(count, code, counted=counted) + (count << code)


def extremes(program: model.Program, element: model.Type, constraints: Constraints) -> tuple[int, int]:
    """The smallest and the largest code of an element that the constraints allow."""
    scalar = base_of(program, element)
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
    """Of a set of `count` values, which are all different."""
    scalar = base_of(program, element)
    assert scalar is not None
    known = _members(program, element)
    if known is not None:
        narrowest = sorted(_code(scalar, each) for each in known)[:count]
        blocks = [narrowest[at : at + _BLOCK] for at in range(0, len(narrowest), _BLOCK)]
        inside = sum(len(each) << each[-1] for each in blocks)
        return _around(len(narrowest), narrowest[0] if narrowest else 0, counted=True) + inside
    low, high = _range(element, scalar, constraints)
    count = min(count, high - low + 1)
    return min(_of_window(scalar, first, count) for first in _windows(scalar, low, high - count + 1, count))


def most_of_set(
    program: model.Program, element: model.Type, constraints: Constraints, count: int | None
) -> int | None:
    """No set of at most `count` values takes more, and one of up to 256 takes as much where it may. None: no
    end, also where only the type bounds it, and there are more than a message has bytes.
    """
    known = _members(program, element)
    if known is not None:
        available = len(known)
    else:
        scalar = base_of(program, element)
        assert scalar is not None
        low, high = _range(element, scalar, constraints)
        available = high - low + 1
    if count is None and available > _MANY:
        return None
    most = available if count is None else min(count, available)
    return bound(extremes(program, element, constraints)[1], most, counted=True)


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


def _windows(scalar: Scalar, low: int, high: int, count: int) -> set[int]:
    """First values of runs of neighbours, one of which takes the fewest bytes: those at which a block just
    fits into a width, or the run begins or ends at a limit.
    """
    found = {low, high, min(max(0, low), high)}
    blocks = min(-(-count // _BLOCK), 4096)
    for code in _CODES[:-1]:
        bottom, top = _held(scalar, code)
        found |= {bottom - _BLOCK * block for block in range(blocks)}
        found |= {top + 1 - _BLOCK * block for block in range(1, blocks + 1)}
        found.add(top + 1 - count)
    return {each for each in found if low <= each <= high}


def _of_window(scalar: Scalar, first: int, count: int) -> int:
    """Of the values first, first + 1, ...; whole blocks are counted, not looked at."""
    full, rest = divmod(count, _BLOCK)
    inside, before = 0, 0
    for code in _CODES:
        bottom, top = _held(scalar, code)
        begin = max(0, -(-(bottom - first) // _BLOCK))
        end = min(full, (top + 1 - first) // _BLOCK)
        here = max(0, end - begin)
        inside += (here - before) * (_BLOCK << code)
        before = max(before, here)
    if rest:
        inside += rest << max(_code(scalar, first + full * _BLOCK), _code(scalar, first + count - 1))
    last = first + min(count, _BLOCK) - 1
    code = max(_code(scalar, first), _code(scalar, last)) if count else 0
    return _around(count, code, counted=True) + inside


def _held(scalar: Scalar, code: int) -> tuple[int, int]:
    """The values that fit into a width."""
    bits = 8 << code
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if scalar.is_signed else (0, (1 << bits) - 1)


def _code(scalar: Scalar, number: int) -> int:
    return next(code for code in _CODES if _held(scalar, code)[0] <= number <= _held(scalar, code)[1])


def _around(count: int, first: int, *, counted: bool) -> int:
    """The head, and the codes behind it."""
    blocks = -(-count // _BLOCK)
    if not counted:
        return -(-blocks // 4)
    return sizes.count(count * 4 + first) + -(-max(0, blocks - 1) // 4)
