"""Bytes of vectors that were damaged, one byte changed, left out or put in, and what mfidl/dynamic says of
them: the fault, its offset and its path. What is still a value is no vector.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mfidl import dynamic
from mfidl.compiler import check

SCHEMAS = Path(__file__).parents[1] / "schemas"
_MOST = 300
_SEED = 20_261_125


def vectors(module: str, sound: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    program = check([str(SCHEMAS / f"{module}.mfidl")]).program
    assert program is not None
    schema = dynamic.Schema(program)
    draw = random.Random(_SEED)
    seen: set[tuple[str, str]] = set()
    while len(seen) < _MOST:
        vector = draw.choice(sound)
        data = _damaged(draw, bytes.fromhex(vector["hex"]))
        type_ = vector["type"]
        try:
            dynamic.decode(schema, type_, data)
        except dynamic.DecodeError as error:
            if (type_, data.hex()) not in seen:
                seen.add((type_, data.hex()))
                yield {
                    "name": f"damaged {len(seen)}",
                    "schema": f"{module}.mfidl",
                    "type": type_,
                    "tier": "archive",
                    "hex": data.hex(),
                    "fault": error.fault.name.lower(),
                    "offset": error.offset,
                    "path": str(error.path),
                    "by": "dynamic",
                }


def _damaged(draw: random.Random, data: bytes) -> bytes:
    at = draw.randrange(len(data) + 1)
    match draw.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + 1 :]
        case 2:
            return data[:at] + bytes([draw.randrange(256)]) + data[at:]
        case _:
            return data[:at] + bytes([draw.choice((0, 127, 128, 255))]) + data[at + 1 :]
