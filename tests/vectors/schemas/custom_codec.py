"""The codecs of custom.mfidl in Python; custom_codec.hpp makes the same bytes, and says which."""

import re
from dataclasses import dataclass
from typing import TypeAlias

_RUN = re.compile(r"([a-z])\1{0,254}")
_COLUMNS = 100


@dataclass
class Runs:
    letters: str = ""


class RunsCodec:
    Value: TypeAlias = Runs

    @staticmethod
    def encode(value: Runs) -> bytes:
        return b"".join(bytes([len(run[0]), ord(run[1])]) for run in _RUN.finditer(value.letters))

    @staticmethod
    def decode(data: bytes) -> Runs:
        runs = list(zip(data[::2], data[1::2], strict=True))
        if not all(length and ord("a") <= letter <= ord("z") for length, letter in runs):
            raise ValueError("no runs of letters")
        return Runs("".join(chr(letter) * length for length, letter in runs))


@dataclass
class Spot:
    column: int = 0
    row: int = 0


class SpotCodec:
    Value: TypeAlias = Spot

    @staticmethod
    def encode(value: Spot) -> bytes:
        return bytes([value.column, value.row])

    @staticmethod
    def decode(data: bytes) -> Spot:
        column, row = data
        if column >= _COLUMNS:
            raise ValueError(f"there is no column {column}")
        return Spot(column, row)
