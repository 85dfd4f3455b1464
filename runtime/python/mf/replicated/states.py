"""R6. A servant's state on its way to another replica, in parts: what a replica keeps that gives one, and
what one keeps that takes it. Pure data.

The taker asks for each part by saying how much it has, so that one part is on its way at a time, however long
the state is. A part that is lost is sent again when the taker reports once more that something is missing.
"""

from dataclasses import dataclass, field

from mf.replicated.log import Origins
from mf.replicated.messages import Head, Part, State


@dataclass(slots=True)
class Giving:
    """`at`: the end of the log that the state contains. `origins`: what it was made of. `held`: how much of
    it the other has. `used`: when that was last sent which follows.
    """

    instead: Head
    at: Head
    number: int
    state: bytes
    origins: Origins
    held: int = 0
    used: float = 0.0

    @property
    def is_whole(self) -> bool:
        """Whether the other has all of it."""
        return self.held == len(self.state)

    def about(self) -> State:
        return State(self.number, len(self.state))

    def part(self, epoch: int, most: int) -> Part:
        """What follows on what the other has."""
        piece = self.state[self.held : self.held + most]
        return Part(epoch, self.instead, self.about(), self.held, piece)

    def took(self, size: int) -> bool:
        """The other has so much. False: that is known, and the next part is on its way."""
        again = size == 0 < self.held  # it has begun anew
        if not again and not self.held < size <= len(self.state):
            return False
        self.held = size
        return True


@dataclass(slots=True)
class Taking:
    """What has come of a state."""

    sender: str
    about: State
    data: bytearray = field(default_factory=bytearray)

    def is_of(self, sender: str, about: State) -> bool:
        return self.sender == sender and self.about == about

    def add(self, part: Part) -> None:
        """Parts that do not follow are left out: they come again."""
        if part.offset == len(self.data) and part.offset + len(part.piece) <= self.about.size:
            self.data += part.piece

    @property
    def is_whole(self) -> bool:
        return len(self.data) == self.about.size
