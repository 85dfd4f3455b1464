"""Holds the readings against each other: on values that mfidl/dynamic draws, on bytes that were damaged, and
on JSON text that was.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mfidl import dynamic, model
from mfidl.dynamic import Schema
from mfidl.dynamic.sample import Sampler, Undrawable
from mfidl.explain.samples import sample
from tests.compiler.dynamic_values import JSON_PIECES
from tests.random_schemas.readings import Crash, Fault, Outcome, Reading, Subject, Value, Violated

_BYTES = [0, 1, 2, 3, 4, 5, 127, 128, 129, 192, 254, 255]


@dataclass(frozen=True)
class Amount:
    """Of each type: values, and damages of each value's bytes and text."""

    values: int
    damages: int
    texts: int


class WithCustom(Sampler):
    """The custom codec of these schemas takes any bytes."""

    def _declared(self, type_: model.Named, depth: int) -> Any:
        if self._schema.tier(type_) is model.Tier.CUSTOM:
            return self._random.randbytes(self._random.choice((0, 1, 3, 130)))
        return super()._declared(type_, depth)


def drawn(schema: Schema, subject: Subject, seed: str, count: int) -> list[Any]:
    """Values at the borders and random ones, half and half where there are enough."""
    sampler = WithCustom(schema, f"{seed}/{subject.name}", sample)
    try:
        borders = sampler.borders(subject.type)
        dice = random.Random(f"{seed}/{subject.name}")
        chosen = dice.sample(borders, min(len(borders), (count + 1) // 2))
        return [*chosen, *(sampler.random(subject.type) for _ in range(count - len(chosen)))]
    except Undrawable:
        return []


def disagreements(
    schema: Schema, about: Sequence[Subject], readings: Sequence[Reading], seed: str, amount: Amount
) -> list[str]:
    """Sentences, one a disagreement. The first reading is mfidl/dynamic."""
    found: list[str] = []
    for subject in about:
        found += _of_type(schema, subject, readings, seed, amount)
    return found


def _of_type(
    schema: Schema, subject: Subject, readings: Sequence[Reading], seed: str, amount: Amount
) -> list[str]:
    found: list[str] = []
    dice = random.Random(f"damage/{seed}/{subject.name}")

    def read(data: bytes, good: bytes | None = None) -> None:
        outcomes = [(each.name, each.read(subject, data)) for each in readings]
        found.extend(_compared(f"{subject.name} from {data.hex() or 'no bytes'}", outcomes, good))

    def write(text: bytes, good: bytes | None = None) -> None:
        outcomes = [(each.name, each.write(subject, text)) for each in readings]
        found.extend(_compared(f"{subject.name} from {text!r}", outcomes, good))

    for value in drawn(schema, subject, seed, amount.values):
        data = dynamic.encode(schema, subject.type, value)
        read(data, data)
        for _ in range(amount.damages if data else 0):
            read(damaged(data, dice))
        if subject.has_json:
            text = dynamic.to_json(schema, subject.type, value).encode()
            write(text, data)
            for _ in range(amount.texts):
                write(damaged_text(text, dice))
    return found


def _compared(what: str, outcomes: list[tuple[str, Outcome]], good: bytes | None) -> list[str]:
    """`good`: bytes that must come back as they are; None: those are damaged."""
    first = outcomes[0][1]
    agree = all(_agree(first, each, good is not None) for _, each in outcomes[1:])
    if isinstance(first, Crash) or (good is not None and getattr(first, "data", None) != good):
        agree = False
    violations = {_violation(each) for _, each in outcomes[1:]} - {None}
    if agree and len(violations) < 2:
        return []
    told = "".join(f"\n    {name}: {outcome}" for name, outcome in outcomes)
    return [f"{what}:{told}"]


def _violation(outcome: Outcome) -> bool | None:
    """Whether a constraint is violated; None where it was not checked."""
    match outcome:
        case Violated():
            return True
        case Value(violated=violated):
            return bool(violated)
        case _:
            return None


def _agree(first: Outcome, other: Outcome, is_good: bool) -> bool:
    match first, other:
        case Value(), Value():
            quietened = "NaN" in first.text or first.text == ""  # a reader may quieten signalling NaNs of f32
            same = (first.data, first.hash37, first.hash64) == (other.data, other.hash37, other.hash64)
            return first.text == other.text and (same or (quietened and not is_good and _quiet(first, other)))
        case Fault("BUDGET_EXCEEDED"), Fault("BUDGET_EXCEEDED"):
            return True
        case Fault(), Fault():
            return first == other
        case _, Violated():
            return not is_good  # what is wrong behind it, Python does not see
        case _:
            return False


def _quiet(first: Value, other: Value) -> bool:
    """Whether the bytes differ by the bit alone that makes a NaN quiet."""
    if len(first.data) != len(other.data):
        return False
    return all(a == b or a ^ b == 0x40 for a, b in zip(first.data, other.data, strict=True))


def damaged(data: bytes, dice: random.Random) -> bytes:
    bad = bytearray(data)
    if dice.random() < 0.25:
        return bytes(bad[: dice.randrange(len(bad))])
    for _ in range(dice.choice((1, 1, 2))):
        at = dice.randrange(len(bad) + 1)
        match dice.randrange(6):
            case 0 | 1 if at < len(bad):
                bad[at] ^= 1 << dice.randrange(8)
            case 2 | 3 if at < len(bad):
                bad[at] = dice.choice(_BYTES)
            case 4:
                bad[at:at] = (
                    bad[: dice.randint(1, 4)] if dice.random() < 0.3 else dice.randbytes(dice.randint(1, 3))
                )
            case _:
                del bad[at : at + dice.randint(1, 4)]
    return bytes(bad)


def damaged_text(text: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(text) + 1)
    if dice.random() < 0.3:  # a whole number, name or bracket instead of any byte
        words = [each.span() for each in re.finditer(rb'"[^"]*"|-?\d+|[{}\[\],:]', text)]
        begin, end = dice.choice(words) if words else (0, 0)
        return text[:begin] + dice.choice(JSON_PIECES) + text[end:]
    return text[:at] + dice.choice(JSON_PIECES) + text[at + dice.randrange(4) :]
