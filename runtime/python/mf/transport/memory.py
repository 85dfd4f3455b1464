"""R3. A stream for tests: scripted input, recorded output, and a failure after a given number of
operations."""

import os

from mf.transport.stream import Buffer, Stream


class MemoryStream(Stream):
    """Reads return the pieces of `script` one by one, then the end of the stream. Writes are kept in
    `written`.

    The operation with number `fail_after` (counted from 0; reads and writes alike) and all later ones raise
    ConnectionResetError.
    """

    __slots__ = ("_descriptor", "_operations", "closed", "fail_after", "read", "script", "written")

    def __init__(self, script: list[bytes], fail_after: int | None = None) -> None:
        self.peer = "memory"
        self.script = list(script)
        self.written = bytearray()
        self.fail_after = fail_after
        self.closed = False
        self._operations = 0
        self._descriptor = os.eventfd(1)
        self.read = self.read_now

    def _count(self) -> None:
        if self.fail_after is not None and self._operations >= self.fail_after:
            raise ConnectionResetError("scripted failure")
        self._operations += 1

    def fileno(self) -> int:
        return self._descriptor

    def set_read_timeout(self, seconds: float) -> None:
        pass  # reading a script never waits

    def read_now(self, into: memoryview) -> int:
        self._count()
        if self.closed or not self.script:
            return 0
        piece = self.script.pop(0)
        taken = min(len(piece), len(into))
        into[:taken] = piece[:taken]
        if taken < len(piece):
            self.script.insert(0, piece[taken:])
        return taken

    def write_now(self, buffers: list[Buffer]) -> int:
        self._count()
        for buffer in buffers:
            self.written += buffer
        return sum(map(len, buffers))

    def wait(self, write: bool, timeout: float) -> bool:  # noqa: ARG002 - always ready
        return True

    def shutdown(self) -> None:
        self.closed = True

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
