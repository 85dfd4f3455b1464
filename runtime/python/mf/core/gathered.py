"""R0. A message that goes out from two places: bytes that were made for it, and large ones that stay where
they are.

It is `bytes`, so that whoever passes a message on need not know it; only protocol.frame.pack_into() looks
inside. Joined with others it would be the head alone: so only codecs of whole messages make one.
"""


class Gathered(bytes):
    """The bytes are the head, and `blob` stands behind them. Metadata may be put in front."""

    blob: bytes

    def __new__(cls, head: bytes, blob: bytes) -> "Gathered":
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
