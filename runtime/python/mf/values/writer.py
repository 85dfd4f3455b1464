"""R2. mf.ValueWriter: values into a file that says itself what they are."""

import fcntl
import os
from typing import Any, BinaryIO, Generic, TypeVar, overload

from mf.codec.lookup import codec_of
from mf.core.error import Code
from mf.values.form import MOST_VALUE, FormError, Records, failed, head, not_done, record
from mf.values.reader import Path
from mf.values.texts import texts_of

T = TypeVar("T")
_BUFFERED = 1 << 16


class ValueWriter(Generic[T]):
    """Writes values of one declared type, which any later or earlier schema can read with `ValueReader`.

        with mf.ValueWriter("hits.mfv", Hit) as out:
            out.write(hit)

    Values are gathered and written 64 KiB at a time, always behind what is there: what a killed program
    leaves behind are whole values and at most one that is cut off. A file has one writer at a time.

    For one thread at a time. A context manager, which closes it.

    Args:
        path: Of the file.
        kind: The type of the values.
        append: Also to a file that exists and has the schema of `kind`; else a new one is made. Defaults to
            False.
        drop_cut: A value at its end that is not whole is cut off first. Defaults to False.

    Raises:
        Error: UNAVAILABLE if the file cannot be written, exists (without `append`) or has a writer already,
            SCHEMA_MISMATCH if it has another schema, DECODE_ERROR if it is damaged or cut off.
    """

    __slots__ = ("_buffer", "_count", "_end", "_file", "_name", "_pending", "_write")

    @overload
    def __init__(
        self, path: Path, kind: type[T], *, append: bool = False, drop_cut: bool = False
    ) -> None: ...
    @overload
    def __init__(self, path: Path, kind: Any, *, append: bool = False, drop_cut: bool = False) -> None: ...
    def __init__(self, path: Path, kind: Any, *, append: bool = False, drop_cut: bool = False) -> None:
        texts = texts_of(kind)
        self._write = codec_of(kind).encode
        self._name = os.fspath(path)
        self._buffer = bytearray()
        self._pending = self._count = self._end = 0
        self._file = self._opened(append=append)
        try:
            if os.fstat(self._file.fileno()).st_size:
                self._behind(texts.descriptor, drop_cut=drop_cut)
            if not self._end:
                self._buffer += head(texts)
                self.flush()
        except BaseException:
            self._file.close()
            raise

    def _opened(self, *, append: bool) -> BinaryIO:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | (0 if append else os.O_EXCL)
        try:
            file = open(os.open(self._name, flags, 0o666), "r+b", buffering=0)  # noqa: PTH123, SIM115
        except FileExistsError:
            raise failed(
                self._name, "exists already; values can be appended to it", Code.UNAVAILABLE
            ) from None
        except OSError as wrong:
            raise not_done(self._name, wrong) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise failed(self._name, "has another writer", Code.UNAVAILABLE) from None
        return file

    def _behind(self, descriptor: str, *, drop_cut: bool) -> None:
        """Goes to the end of what is there."""
        try:
            records = Records(self._file.read)
            if records.texts.descriptor != descriptor:
                raise failed(self._name, "has another schema: migrate it first", Code.SCHEMA_MISMATCH)
            self._end = records.offset
            while records.next() is not None:
                self._end, self._count = records.offset, records.number
        except FormError as wrong:
            if not (wrong.cut and drop_cut):
                raise failed(self._name, str(wrong)) from None
        except OSError as wrong:
            raise not_done(self._name, wrong) from None
        self._cut_back()

    @property
    def count(self) -> int:
        """Of the values in the file, those among them that are still gathered."""
        return self._count + self._pending

    def write(self, value: T) -> None:
        """Raises Error(INVALID_ARGUMENT) for a value that its schema does not allow, MESSAGE_TOO_LARGE for
        one of more than 64 MiB, and UNAVAILABLE where `flush` does."""
        data = self._write(value)
        if len(data) > MOST_VALUE:
            words = f"a value of {len(data)} bytes; at most {MOST_VALUE} are allowed"
            raise failed(self._name, words, Code.MESSAGE_TOO_LARGE)
        self._buffer += record(self.count, bytes(data))
        self._pending += 1
        if len(self._buffer) >= _BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Writes what was gathered. Raises Error(UNAVAILABLE) with what the system says, if the disk is full
        for one; what was gathered since the last flush is then not in the file, which has whole values as
        before, and can be written again."""
        buffer, self._buffer = self._buffer, bytearray()
        pending, self._pending = self._pending, 0
        try:
            with memoryview(buffer) as data:
                written = 0
                while written < len(data):
                    written += self._file.write(data[written:])
        except OSError as wrong:
            self._cut_back()
            then = f"; values in the file: {self._count}, lost: {pending}"
            raise not_done(self._name, wrong, then) from None
        self._end += len(buffer)
        self._count += pending

    def _cut_back(self) -> None:
        """To the last value that is whole."""
        try:
            self._file.truncate(self._end)
            self._file.seek(self._end)
        except OSError as wrong:
            raise not_done(self._name, wrong) from None

    def sync(self) -> None:
        """The same, and waits until the disk has it."""
        self.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as wrong:
            raise not_done(self._name, wrong) from None

    def close(self) -> None:
        """Writes what was gathered, and closes the file."""
        if self._file.closed:
            return
        try:
            self.flush()
        finally:
            self._file.close()

    def __enter__(self) -> "ValueWriter[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
