"""A signature and its codec; seal.hpp says what the bytes are."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass
class Seal:
    text: str = ""


class Codec:
    Value: TypeAlias = Seal

    @staticmethod
    def encode(seal: Seal) -> bytes:
        return bytes((byte - 1) % 256 for byte in seal.text.encode())

    @staticmethod
    def decode(data: bytes) -> Seal:
        return Seal(bytes((byte + 1) % 256 for byte in data).decode())
