"""F6. @pattern as a program of mf/codec/pattern.hpp, from the steps that the Python runtime runs as well."""

from typing import TYPE_CHECKING

from mfidl.emit.cpp.literals import string_literal

if TYPE_CHECKING:
    from mf.patterns import Step


def steps(pattern: str) -> str:
    """The steps as C++ initialisers."""
    from mf.patterns import steps_of  # few schemas need it

    return ", ".join(map(_initialiser, steps_of(pattern)))


def _initialiser(step: "Step") -> str:
    kind, first, second = step
    both = second or kind.name == "SPLIT"
    numbers = (first, second)[: 2 if both else 1 if first or kind.name == "JUMP" else 0]
    return f"{{{', '.join([f'check::Step::{kind.value}', *map(str, numbers)])}}}"


def matches(variable: str, name: str, pattern: str) -> str:
    return f"check::matches({variable}, {name}, {string_literal(pattern)})"
