"""Writes tests/vectors/codec/tool.json: random values of every struct of shapes.mfidl, and their bytes.

    python tests/vectors/make.py

The Python codec writes them (`by: tool`); C++ and Python tests read them.
The same seed gives the same file, so a change of it is a change of the wire format or of a schema.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime/python")]

from mf.codec import rules, sizes  # noqa: E402
from mf.codec import shape as s  # noqa: E402
from tests.python.codec.generated import VECTORS, codecs_of, from_json, writable  # noqa: E402

SEED = 20_261_120
EACH = 20  # vectors a struct
MOST_DEEP = 2
TEXTS = ["", "a", "the", "book", "h\u00e9", "\u20ac", "\U0001f600", "\0", "x" * 127, "y" * 128, "\u00fc" * 70]


class Draw:
    """Values as the vectors spell them, edges of ranges and of encoded lengths more often than the rest."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self, shape: s.Shape, depth: int = 0, checked: tuple[rules.Rule, ...] = ()) -> Any:
        match shape:
            case s.Scalar():
                return self._scalar(shape.name, checked)
            case s.Enum(open=True):
                return self._integer(shape.base.name, checked)
            case s.Enum():
                return self._random.choice(sorted(shape.members or {}))
            case s.Checked():
                return self.value(shape.shape, depth, shape.rules)
            case s.Optional():
                absent = depth > MOST_DEEP or self._random.random() < 0.4
                return None if absent else self.value(shape.element, depth + 1)
            case s.Array():
                return [self.value(shape.element, depth + 1) for _ in range(shape.length)]
            case s.List():
                return [self.value(shape.element, depth + 1) for _ in range(self._count(depth, checked))]
            case s.Set():
                return self._ordered(shape.element, depth)
            case s.Map():
                keys = self._ordered(shape.key, depth)
                return [[key, self.value(shape.value, depth + 1)] for key in keys]
            case s.Struct():
                return {each.name: self.value(each.shape, depth + 1) for each in shape.fields}
            case s.Union():
                chosen = self._random.choice(shape.alternatives)
                return {chosen.name: self.value(chosen.shape, depth + 1)}

    def _count(self, depth: int, checked: tuple[rules.Rule, ...]) -> int:
        longest = next((rule.high for rule in checked if isinstance(rule, rules.HasLength)), None)
        if depth > MOST_DEEP:
            return 0
        long = longest is None and depth == 1 and self._random.random() < 0.02
        return 130 if long else self._random.randint(0, 3)

    def _ordered(self, shape: s.Shape, depth: int) -> list[Any]:
        """Keys as they must be on the wire: strictly ascending."""
        drawn = [
            self.value(shape, depth + 1)
            for _ in range(0 if depth > MOST_DEEP else self._random.randint(0, 4))
        ]
        distinct = {from_json(shape, each): each for each in drawn}
        return [distinct[key] for key in sorted(distinct)]

    def _scalar(self, name: str, checked: tuple[rules.Rule, ...]) -> Any:
        match name:
            case "bool":
                return self._random.random() < 0.5
            case "f32" | "f64":
                return self._float(checked)
            case "string":
                return self._text(checked)
            case "bytes":
                return self._random.randbytes(self._random.choice([0, 1, 3, 127, 128])).hex()
            case "uuid":
                return self._random.randbytes(16).hex()
            case "timestamp" | "duration":
                return self._integer("i64", checked)
            case _:
                return self._integer(name, checked)

    def _text(self, checked: tuple[rules.Rule, ...]) -> str:
        fitting = [text for text in TEXTS if all(rule.violation(text) is None for rule in checked)]
        return self._random.choice(fitting)

    def _float(self, checked: tuple[rules.Rule, ...]) -> float:
        """Numbers that f32 has too."""
        if any(isinstance(rule, rules.InRange) for rule in checked):
            return self._random.choice([0.0, 0.25, 0.5, 1.0])
        return self._random.choice([0.0, -0.0, 1.0, -1.5, 0.15625, 1048576.0, 2.0**-20, 65504.0])

    def _integer(self, name: str, checked: tuple[rules.Rule, ...]) -> int:
        signed, bits = name[0] == "i", int(name[1:])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        for rule in checked:
            if isinstance(rule, rules.InRange):
                low, high = int(rule.low or 0), int(rule.high or 0)
        edges = [low, high, 0, 1, -1, 63, 64, -64, -65, 127, 128, 16383, 16384, 2097151, 2097152]
        edges += [self._random.randint(low, high) for _ in range(4)]
        return self._random.choice([edge for edge in edges if low <= edge <= high])


def vectors(schema: str) -> list[dict[str, Any]]:
    draw, made = Draw(SEED), []
    for codec in codecs_of(schema):
        shape = codec.shape
        seen: set[str] = set()
        for _ in range(EACH if sizes.smallest(shape) else 1):
            value = draw.value(shape)
            written = codec.encode(writable(codec, from_json(shape, value)))
            if written.hex() in seen:
                continue
            seen.add(written.hex())
            made.append(
                {
                    "name": f"{shape.name.removeprefix('vectors.')} {len(seen)}",
                    "schema": schema,
                    "method" if shape.implicit else "type": shape.name,
                    "tier": "memcpy" if shape.memcpy else "febird",
                    "value": value,
                    "hex": written.hex(),
                    "by": "tool",
                }
            )
    return made


def main() -> None:
    made = vectors("shapes.mfidl")
    lines = ",\n".join("  " + json.dumps(each, ensure_ascii=True) for each in made)
    (VECTORS / "codec/tool.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(made)} vectors")


if __name__ == "__main__":
    main()
