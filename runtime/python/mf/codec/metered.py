"""R1. The bytes of a message whose value could exceed the memory budget, with the rest of that budget.

The lenient functions (mf.codec.fast) are handed these for `data`, and ask before they allocate. What is
counted is what `sizes.memory` estimates, and the bytes themselves once, because texts are made of them.
"""

from mf.codec.limits import U64_MAX
from mf.codec.malformed import MalformedError
from mf.codec.varint import read_unsigned


class Metered(bytes):
    left: float

    def charge(self, memory: int) -> None:
        self.left -= memory
        if self.left < 0:
            raise MalformedError

    def charge_row(self, pos: int, each: int) -> None:
        """For the integers of the row at `pos` (mf.codec.rows)."""
        head, _ = read_unsigned(self, pos, U64_MAX)
        self.charge((head >> 2) * each)


def metered(data: bytes, memory: float) -> Metered:
    made = Metered(data)
    made.left = memory - len(data)
    return made
