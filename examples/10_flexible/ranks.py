"""A world of numbered processes, and the transfer of example 3 of the paper: buffers that go whole if
they are small, and else in chunks, each of which the receiver asks for by acknowledging the one before.

One thing differs from the paper: a receiver says which kind of message it wants (`mtype`), since two
ranks that send to each other under one tag would otherwise take an acknowledgement for data.
"""

from typing import Any

from mf import flex

CHUNK_BYTES = 256 << 10
SIZES = {"f64": 8, "i64": 8, "u8": 1, "value": 64}  # of a value of each data type, for the size of a chunk
LIMIT = 120.0  # seconds that a rank waits for another one

Buffer = Any  # a list, or an array of one dimension


class Ranks:
    """This process's place in a world of `size`: it must be called NAME.RANK, as the others are."""

    def __init__(self, process: flex.Process, rank: int, size: int, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.process = process
        self.rank = rank
        self.size = size
        self._world = process.name.rpartition(".")[0]
        self._chunk_bytes = chunk_bytes

    def name(self, rank: int) -> str:
        return f"{self._world}.{rank}"

    def chunk(self, datatype: str) -> int:
        """Values of one chunk."""
        return max(1, self._chunk_bytes // SIZES[datatype])

    def mpi_send_buf(self, buf: Any, offset: int, count: int, datatype: str, dest: int, tag: str) -> None:
        """Sends `count` values from `offset` on. A large buffer waits for its receiver."""
        me, to, size = self.process, self.name(dest), self.chunk(datatype)
        if count <= size:
            piece = buf[offset : offset + count]
            me.send(dest=to, tag=tag, buf=piece, start=0, end=count, size=count, mtype="small", last=True)
            return
        for start in range(0, count, size):
            end = min(start + size, count)
            piece, last = buf[offset + start : offset + end], end == count
            me.send(
                dest=to, tag=tag, buf=piece, start=start, end=end, size=end - start, mtype="large", last=last
            )
            me.recv(LIMIT, src=to, tag=tag, mtype="ack")

    def mpi_recv_buf(self, buf: Buffer, offset: int, count: int, datatype: str, src: int, tag: str) -> None:
        """Receives as many into `buf` from `offset` on. Raises ValueError if the sender has another count."""
        me, of = self.process, self.name(src)
        received, last = 0, False
        while not last:
            m = me.recv(LIMIT, src=of, tag=tag, mtype=lambda mtype: mtype in ("small", "large"))
            if m.mtype == "large":
                me.send(dest=of, tag=tag, mtype="ack")
            if m.end > count:
                raise ValueError(f"rank {src} sends {m.end} values of {datatype} and more, not {count}")
            buf[offset + m.start : offset + m.end] = m.buf
            received += m.size
            last = m.last
        if received != count:
            raise ValueError(f"rank {src} has sent {received} values of {datatype}, not {count}")
