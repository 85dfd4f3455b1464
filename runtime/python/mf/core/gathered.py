"""R0. A message that is sent from two places in memory: a head, and large bytes that are not copied.

It derives from `bytes`, so that code that passes a message on need not know it; only
protocol.frame.pack_into() uses the second part. Joining it with other bytes would lose that part: so only
codecs of whole messages make one.
"""


class Gathered(bytes):
    """The bytes are the head, followed by `blob`. Metadata may be put before it."""

    blob: bytes | memoryview
    """Of bytes, if it is a memoryview."""

    def __new__(cls, head: bytes, blob: bytes | memoryview) -> "Gathered":
        made = super().__new__(cls, head)
        made.blob = blob
        return made

    @property
    def head(self) -> bytes:
        return super().__getitem__(slice(None))

    def __len__(self) -> int:
        return super().__len__() + len(self.blob)

    def __radd__(self, front: bytes | bytearray) -> "Gathered":  # type: ignore[misc]  # bytes add none of these
        return Gathered(bytes(front) + self.head, self.blob)

    def __bytes__(self) -> bytes:
        return self.head + self.blob
