"""Mailboxes that tests fill."""

from typing import Any

from mf.flex.mailbox import OVERHEAD, Mailbox
from mf.flex.message import Message
from mf.flex.queue import Parcel


class Owner:
    """The sender of messages, which is notified of what was taken."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def taken(self, parcel: Parcel) -> None:
        self.numbers.append(parcel.sequence)


def parcel(
    src: str = "A", size: int = OVERHEAD, owner: Any = None, sequence: int = 0, **values: Any
) -> Parcel:
    return Parcel(Message(src, "B", values), size, src, owner, sequence)


def filled(*messages: dict[str, Any]) -> Mailbox:
    box = Mailbox("B")
    for each in messages:
        assert box.put(parcel(**each))
    return box
