"""R2. mf.ValueReader: the values of a file, one after the other, whatever schema wrote it."""

import os
from typing import Any, BinaryIO, Generic, Protocol, TypeVar, overload

from mf.adapt.values import LostError
from mf.codec.lookup import codec_of
from mf.codec.texts import Texts
from mf.core.error import Error
from mf.values.form import FormError, Records, failed, not_done
from mf.values.texts import texts_of, transcoder

T = TypeVar("T")
Path = str | os.PathLike[str]


class Readable(Protocol):
    """What gives the next bytes, at most so many, and none at its end."""

    def read(self, size: int, /) -> bytes: ...


class ValueReader(Generic[T]):
    """Reads a file that `ValueWriter` wrote, in any language and with any schema that `kind` can be read from
    (docs/evolution.md); the whole file is never in memory.

        with mf.ValueReader("hits.mfv", Hit) as hits:
            for hit in hits:
                ...

    A value that has no equal in the schema of the reader raises Error(DECODE_ERROR) with its number, its
    offset and the path in it; so does one whose bytes are damaged within. The next one can then be read. A
    file that is cut off or damaged raises an Error behind its last whole value, and then has no more.

    For one thread at a time. A context manager and an iterator.

    Args:
        file: A path, or what gives its bytes.
        kind: The type of the values, as `mf.from_bytes` takes it.
        was: The full name of the type in the schema that wrote the file, if that is another one. Defaults
            to "".

    Raises:
        Error: UNAVAILABLE if the file cannot be read, DECODE_ERROR if it is no file of values or is damaged,
            and SCHEMA_MISMATCH if no rule leads from its schema to that of `kind`.
    """

    __slots__ = ("_ended", "_name", "_own", "_read", "_records", "_transcoder", "is_cut")

    is_cut: bool
    """Whether the file turned out to end within a value: its writer ended before it was whole."""

    @overload
    def __init__(self, file: Path | Readable, kind: type[T], *, was: str = "") -> None: ...
    @overload
    def __init__(self, file: Path | Readable, kind: Any, *, was: str = "") -> None: ...  # unions
    def __init__(self, file: Path | Readable, kind: Any, *, was: str = "") -> None:
        ours = texts_of(kind)
        self._read = codec_of(kind).decode
        self._ended = False
        self.is_cut = False
        self._own: BinaryIO | None = None
        if isinstance(file, str | os.PathLike):
            file = self._own = opened(file)[0]
        self._name = str(getattr(file, "name", "a file of values"))
        try:
            self._records = begun(file, self._name)
            self._transcoder = transcoder(self._name, ours, self.texts, was)
        except BaseException:
            self.close()
            raise

    @property
    def texts(self) -> Texts:
        """The descriptor and the annex of the file."""
        return self._records.texts

    @property
    def number(self) -> int:
        """How many values were read, those among them that could not be used."""
        return self._records.number

    @property
    def offset(self) -> int:
        """Where in the file the next value begins."""
        return self._records.offset

    def __iter__(self) -> "ValueReader[T]":
        return self

    def __next__(self) -> T:
        number, offset = self._records.number, self._records.offset
        data = self._next()
        try:
            if self._transcoder is not None:
                data = self._transcoder.one(data)
            value: T = self._read(data)
        except LostError as lost:
            raise failed(self._name, f"{place(number, offset)}: {words_of(lost)}") from None
        except Error as wrong:
            raise failed(self._name, f"{place(number, offset)}: {wrong.message}", wrong.code) from None
        return value

    def _next(self) -> Any:
        if self._ended:
            raise StopIteration
        try:
            data = self._records.next()
        except FormError as wrong:
            self._ended = True
            self.is_cut = wrong.cut
            raise failed(self._name, str(wrong)) from None
        except OSError as wrong:
            self._ended = True
            raise not_done(self._name, wrong) from None
        if data is None:
            self._ended = True
            raise StopIteration
        return data

    def close(self) -> None:
        """Closes the file, if the reader has opened it."""
        self._ended = True
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> "ValueReader[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def place(number: int, offset: int) -> str:
    return f"value {number} at byte {offset}"


def words_of(lost: LostError) -> str:
    where = lost.where()
    return f"{where}: {lost.reason}" if where else lost.reason


def opened(path: Path) -> tuple[BinaryIO, str]:
    """The file, and what it is called in words."""
    name = os.fspath(path)
    try:
        return open(path, "rb", buffering=0), name  # noqa: PTH123 - a path as the user wrote it
    except OSError as wrong:
        raise not_done(name, wrong) from None


def begun(file: Readable, name: str) -> Records:
    try:
        return Records(file.read)
    except FormError as wrong:
        raise failed(name, str(wrong)) from None
    except OSError as wrong:
        raise not_done(name, wrong) from None
