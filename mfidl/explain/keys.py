"""The bytes of n different keys of a set or map in febird: no key occurs twice, so the short ones are
limited.
"""

from collections.abc import Iterator

from mfidl import model
from mfidl.explain import sizes
from mfidl.explain.example import bounds_of
from mfidl.model import Constraints, Scalar

# How many well-formed UTF-8 characters there are of 1, 2, 3 and 4 bytes.
_CHARACTERS = (128, 1920, 61_440, 1_048_576)
_MANY = 1 << 24
_EXACT_LENGTH = 16  # bytes; there are more texts of this length than any program has keys


def fewest(program: model.Program, key: model.Type, constraints: Constraints, count: int) -> int:
    """Bytes of the `count` shortest keys."""
    total = 0
    for size, available in _ascending(program, key, constraints):
        taken = min(count, available)
        total, count = total + size * taken, count - taken
        if count == 0:
            return total
    return total  # fewer keys exist than requested: no value satisfies that


def most(
    program: model.Program, key: model.Type, constraints: Constraints, count: int | None
) -> tuple[int, int] | None:
    """The number and the bytes of the longest `count` keys, or of all where there are fewer. None: no end,
    also where only the type bounds them, and there are more than a message has bytes.
    """
    if _is_text(key):
        high = model.lengths_of(constraints)[1]
        if high is None or (count is None and high >= _EXACT_LENGTH):
            return None
        if high >= _EXACT_LENGTH:
            assert count is not None
            return count, count * (sizes.count(high) + high)
    ascending = list(_ascending(program, key, constraints))
    if count is None and sum(available for _, available in ascending) > _MANY:
        return None
    left, taken, total = count, 0, 0
    for size, available in reversed(ascending):
        here = available if left is None else min(left, available)
        taken, total = taken + here, total + size * here
        left = None if left is None else left - here
    return taken, total


def _is_text(key: model.Type) -> bool:
    return isinstance(key, model.Primitive) and key.scalar in (Scalar.STRING, Scalar.BYTES)


def _ascending(
    program: model.Program, key: model.Type, constraints: Constraints
) -> Iterator[tuple[int, int]]:
    """(bytes, how many keys), the short ones first."""
    match key:
        case model.Primitive(Scalar.BOOL):
            yield 1, 2
        case model.Primitive(Scalar.UUID):
            yield 16, 1 << 128
        case model.Primitive(Scalar.STRING | Scalar.BYTES as scalar):
            low, high = model.lengths_of(constraints)
            for length in range(low, max(low, _EXACT_LENGTH) + 1 if high is None else high + 1):
                yield sizes.count(length) + length, _texts(scalar, min(length, _EXACT_LENGTH))
        case model.Primitive(scalar):
            yield from sizes.histogram(scalar.held, *bounds_of(scalar, constraints))
        case model.Named():
            yield from _of_named(program.declaration(key.full_name))
        case _:
            raise AssertionError("no other type can be a key")


def _of_named(declaration: model.Declaration) -> Iterator[tuple[int, int]]:
    match declaration:
        case model.Enum(base=base, open=False, members=members):
            found = sorted(sizes.integer(base.scalar, each.number) for each in members)
            yield from ((size, found.count(size)) for size in dict.fromkeys(found))
        case model.Enum(base=base) | model.Flags(base=base):
            yield from sizes.histogram(base.scalar, *base.scalar.limits())
        case _:
            raise AssertionError("no other type can be a key")


def _texts(scalar: Scalar, length: int) -> int:
    """How many texts, or byte strings, of a length there are."""
    if scalar is Scalar.BYTES:
        return 1 << 8 * length
    found = [1]
    for size in range(1, length + 1):
        found.append(
            sum(count * found[size - width] for width, count in enumerate(_CHARACTERS, 1) if width <= size)
        )
    return found[length]
