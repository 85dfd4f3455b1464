"""R2. A file of values in the form of another schema, and its values as JSON: what `mfidlc migrate` and
`mfidlc show` do.

A new file takes the place of the old one at once or not at all: it is written beside its place, under another
name, and renamed when the disk has all of it.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from mf.adapt.made import Made
from mf.adapt.transcode import Transcoder
from mf.adapt.values import LostError
from mf.codec.json import to_json
from mf.codec.lookup import codec_of
from mf.codec.texts import Texts
from mf.core.error import Code, Error
from mf.evolution.types import Named
from mf.values.form import FormError, Records, failed, head, not_done, record
from mf.values.reader import Path, begun, opened, place, words_of
from mf.values.texts import schema_of, transcoder

MOST_TOLD = 10


class Migrated:
    """`type`: full name of the file's type. `count`: of its values. `lost`: what is to be said of the first
    ones that do not go over; `lost_count`: of all. `left_out`: the fields that the new schema lacks;
    `is_held_back`: they are why nothing was written. `is_same`: the file had the schema already.
    `is_written`: a new file is in its place."""

    __slots__ = ("count", "is_held_back", "is_same", "is_written", "left_out", "lost", "lost_count", "type")

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.count = self.lost_count = 0
        self.lost: list[str] = []
        self.left_out: tuple[str, ...] = ()
        self.is_same = self.is_written = self.is_held_back = False


def schema_texts(path: Path) -> Texts:
    """What a file says of its schema. Raises Error."""
    file, name = opened(path)
    with file:
        return begun(file, name).texts


def type_of(path: Path) -> str:
    """The full name of the type that a file holds. Raises Error."""
    return schema_of(schema_texts(path), os.fspath(path)).name


def migrate(
    path: Path,
    texts: Texts,
    *,
    out: Path | None = None,
    was: str = "",
    check: bool = False,
    drop_fields: bool = False,
    drop_cut: bool = False,
) -> Migrated:
    """Writes the values of a file as the schema of `texts` has them, into `out` or in its place, unless one
    of them does not go over. `check`: looks only. `was`: the file's name of the type, if that is another one.
    `drop_fields`: in its place even if it has fields that the schema lacks, so that these are lost.

    Raises Error as `ValueReader` and `ValueWriter` do; the file is then as it was."""
    file, name = opened(path)
    with file:
        _lock(file, name)
        records = begun(file, name)
        theirs = records.texts
        done = Migrated(schema_of(theirs, name).name)
        done.is_same = theirs.descriptor == texts.descriptor and theirs.annex == texts.annex
        over = transcoder(name, texts, theirs, was)
        done.left_out = () if over is None else over.left_out
        done.is_held_back = bool(done.left_out) and out is None and not drop_fields
        values = _values(records, name, over, done, drop_cut=drop_cut)
        if check or done.is_held_back or (done.is_same and out is None):
            for _ in values:
                pass
        else:
            _write(file, os.fspath(out or path), texts, values, done)
    return done


def _lock(file: BinaryIO, name: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise failed(name, "is being written", Code.UNAVAILABLE) from None


def _values(
    records: Records, name: str, over: Transcoder | None, done: Migrated, *, drop_cut: bool
) -> Iterator[bytes]:
    """Those that go over; what becomes of all is counted."""
    while True:
        number, offset = records.number, records.offset
        try:
            data = records.next()
        except FormError as wrong:
            if wrong.cut and drop_cut:
                return
            raise failed(name, str(wrong)) from None
        except OSError as wrong:
            raise not_done(name, wrong) from None
        if data is None:
            return
        done.count += 1
        try:
            yield data if over is None else bytes(over.one(data))
        except LostError as lost:
            _lose(done, f"{place(number, offset)}: {words_of(lost)}")
        except Error as wrong:
            _lose(done, f"{place(number, offset)}: {wrong.message}")


def _lose(done: Migrated, words: str) -> None:
    done.lost_count += 1
    if len(done.lost) < MOST_TOLD:
        done.lost.append(words)


def _write(file: BinaryIO, target: str, texts: Texts, values: Iterator[bytes], done: Migrated) -> None:
    folder, base = os.path.split(os.path.realpath(target))
    beside = None
    try:
        fd, beside = tempfile.mkstemp(prefix=f".{base}.", dir=folder)
        with open(fd, "wb") as out:  # noqa: PTH123 - a file that is open
            out.write(head(texts))
            for number, value in enumerate(values):
                if not done.lost_count:
                    out.write(record(number, value))
            if done.lost_count:
                return
            os.fchmod(fd, os.fstat(file.fileno()).st_mode & 0o7777)
            out.flush()
            os.fsync(fd)
        os.replace(beside, os.path.join(folder, base))  # noqa: PTH105, PTH118
        beside = None
        done.is_written = True
        _sync_folder(folder)
    except Error:
        raise
    except OSError as wrong:
        raise not_done(target, wrong, "; nothing was written") from None
    finally:
        if beside is not None:
            os.unlink(beside)  # noqa: PTH108


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def shown(path: Path) -> Iterator[str | Error]:
    """The values of a file as JSON, by the file's own schema; an Error for one whose bytes are none, and for
    what ends the file too early. Raises Error if it is no file of values."""
    file, name = opened(path)
    with file:
        records = begun(file, name)
        schema = schema_of(records.texts, name)
        shape = Made(schema).shape(Named(schema.name))
        codec = codec_of(shape)
        while True:
            number, offset = records.number, records.offset
            try:
                data = records.next()
            except FormError as wrong:
                yield failed(name, str(wrong))
                return
            except OSError as wrong:
                yield not_done(name, wrong)
                return
            if data is None:
                return
            try:
                yield to_json(codec.decode(data), shape)
            except Error as wrong:
                yield failed(name, f"{place(number, offset)}: {wrong.message}", wrong.code)
