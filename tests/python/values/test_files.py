"""Files of values: what their writers leave behind, and what readers and other writers make of it."""

import io
import os
import resource
import signal
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.values.form import MOST_VALUE
from tests.vectors.make_values import kind_of

Hit, NewHit = kind_of("old", "Hit"), kind_of("new", "Hit")
Point, NewPoint = kind_of("old", "Point"), kind_of("new", "Point")
Rank = kind_of("old", "Rank")


def point(x: int) -> Any:
    return Point(x=x, y=0, rank=Rank.good)


def written(path: Path, *values: Any, **options: Any) -> Path:
    with mf.ValueWriter(path, type(values[0]), **options) as out:
        for value in values:
            out.write(value)
    return path


def xs(path: Path, kind: Any = Point) -> list[int]:
    with mf.ValueReader(path, kind) as reader:
        return [each.x for each in reader]


def test_values_come_back_in_their_order_and_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    with mf.ValueWriter(path, Point) as out:
        for x in range(10_000):
            out.write(point(x))
        assert out.count == 10_000
    with mf.ValueReader(path, Point) as reader:
        assert [each.x for each in reader] == list(range(10_000))
        assert reader.number == 10_000
        assert reader.offset == path.stat().st_size
        assert not reader.is_cut


def test_a_file_without_values_says_what_it_would_hold(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    mf.ValueWriter(path, Point).close()
    with mf.ValueReader(path, NewPoint) as reader:
        assert list(reader) == []
        assert reader.texts.descriptor.startswith("value stored.Point\n")


def test_values_are_appended_behind_those_that_are_there(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1))
    written(path, point(2), point(3), append=True)
    assert xs(path) == [1, 2, 3]


def test_appending_makes_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert xs(written(tmp_path / "points.mfv", point(1), append=True)) == [1]


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1))
    with pytest.raises(mf.Error, match="exists already; values can be appended to it") as raised:
        mf.ValueWriter(path, Point)
    assert raised.value.code is mf.Code.UNAVAILABLE
    assert xs(path) == [1]


def test_a_file_of_another_schema_is_not_appended_to(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1))
    with pytest.raises(mf.Error, match="another schema: migrate it first") as raised:
        mf.ValueWriter(path, NewPoint, append=True)
    assert raised.value.code is mf.Code.SCHEMA_MISMATCH
    assert xs(path) == [1]


def test_a_file_has_one_writer(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    with mf.ValueWriter(path, Point) as first:
        with pytest.raises(mf.Error, match="has another writer"):
            mf.ValueWriter(path, Point, append=True)
        first.write(point(1))
    written(path, point(2), append=True)
    assert xs(path) == [1, 2]


def test_a_file_that_grows_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    with mf.ValueWriter(path, Point) as out:
        out.write(point(1))
        assert xs(path) == []
        out.flush()
        assert xs(path) == [1]
        out.write(point(2))
        out.sync()
        assert xs(path) == [1, 2]


def test_a_cut_tail_is_told_with_its_offset_and_the_values_before_it_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1), point(2))
    whole = path.stat().st_size
    os.truncate(path, whole - 3)
    words = f"cut off at byte {whole - 3}: the value that begins at byte {whole - 24}"
    with mf.ValueReader(path, Point) as reader:
        assert next(reader).x == 1
        with pytest.raises(mf.Error, match=words):
            next(reader)
        assert reader.is_cut
        assert list(reader) == []


def test_a_cut_tail_is_dropped_where_the_appending_program_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1), point(2))
    os.truncate(path, path.stat().st_size - 3)
    with pytest.raises(mf.Error, match="cut off at byte"):
        mf.ValueWriter(path, Point, append=True)
    written(path, point(3), append=True, drop_cut=True)
    assert xs(path) == [1, 3]


def test_a_head_that_is_cut_off_is_written_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1))
    os.truncate(path, 40)
    written(path, point(2), append=True, drop_cut=True)
    assert xs(path) == [2]


def test_zeros_in_the_place_of_the_end_are_dropped_as_a_cut_one(tmp_path: Path) -> None:
    """What a machine leaves that loses its power before the last blocks are written."""
    path = written(tmp_path / "points.mfv", point(1), point(2))
    whole = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(whole - 10)
        file.write(bytes(10))
        file.truncate(100 << 20)
    tracemalloc.start()
    with mf.ValueReader(path, Point) as reader:
        assert next(reader).x == 1
        with pytest.raises(mf.Error, match=f"cut off at byte .*the value that begins at byte {whole - 24}"):
            next(reader)
        assert reader.is_cut
        assert list(reader) == []
    assert tracemalloc.get_traced_memory()[1] < 4 << 20  # however long they are
    tracemalloc.stop()
    with pytest.raises(mf.Error, match="where zeros begin"):
        mf.ValueWriter(path, Point, append=True)
    written(path, point(3), append=True, drop_cut=True)
    assert path.stat().st_size == whole
    assert xs(path) == [1, 3]


def test_a_file_of_zeros_alone_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    path.write_bytes(bytes(5000))
    with pytest.raises(mf.Error, match="cut off at byte 0, within its head, where zeros begin"):
        mf.ValueReader(path, Point)
    written(path, point(2), append=True, drop_cut=True)
    assert xs(path) == [2]


def test_damage_is_never_dropped(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1), point(2))
    whole = path.read_bytes()
    length = bytearray(whole)
    length[-24 + 8] ^= 1  # a bit of it
    for data in (bytes(length), whole[:-10] + bytes(1 << 20) + b"\1"):
        path.write_bytes(data)
        with pytest.raises(mf.Error, match="damaged at byte"):
            mf.ValueWriter(path, Point, append=True, drop_cut=True)
        assert path.read_bytes() == data


def test_reading_goes_on_behind_a_value_that_does_not_go_over(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1), point(70_000), point(3))
    words = "value 1 at byte .*: x: 70000 does not fit u16 of the reader's schema"
    with mf.ValueReader(path, NewPoint) as reader:
        assert next(reader).x == 1
        with pytest.raises(mf.Error, match=words) as raised:
            next(reader)
        assert raised.value.execution is mf.Execution.NO_CALL
        assert str(raised.value).endswith("does not fit u16 of the reader's schema")  # nothing of a call
        assert [each.x for each in reader] == [3]
        assert reader.number == 3


def test_a_type_that_has_another_name_is_read_where_the_reader_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "points.mfv", point(1))
    with pytest.raises(mf.Error, match=r"a file of stored\.Point, not of stored\.Missing"):
        mf.ValueReader(path, kind_of("new", "Missing"))
    text = path.read_bytes()
    with pytest.raises(mf.Error, match=r"field Missing\.name: only here, and has no default"):
        mf.ValueReader(io.BytesIO(text), kind_of("new", "Missing"), was="stored.Point")


def test_what_no_schema_declares_is_no_type_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="no type that a schema declares"):
        mf.ValueWriter(tmp_path / "numbers.mfv", list[str])
    assert not (tmp_path / "numbers.mfv").exists()


def test_a_file_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(mf.Error, match=r"nothing\.mfv: No such file or directory") as raised:
        mf.ValueReader(tmp_path / "nothing.mfv", Point)
    assert raised.value.code is mf.Code.UNAVAILABLE


def test_a_value_that_breaks_its_type_is_refused_and_nothing_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    with mf.ValueWriter(path, Point) as out:
        out.write(point(1))
        with pytest.raises(mf.Error) as raised:
            out.write(point(1 << 32))
        assert raised.value.code is mf.Code.INVALID_ARGUMENT
        out.write(point(2))
    assert xs(path) == [1, 2]


class Counted:
    """Bytes, and how many were asked for and given."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.given = 0

    def read(self, size: int, /) -> bytes:
        part, self._data = self._data[:size], self._data[size:]
        self.given += len(part)
        return part


def test_a_length_that_nothing_follows_takes_no_memory(tmp_path: Path) -> None:
    from mf.values import form

    path = written(tmp_path / "points.mfv", point(1))
    announced = form._RECORD.pack(0, MOST_VALUE, form._check(MOST_VALUE, 1))
    reader = mf.ValueReader(io.BytesIO(path.read_bytes() + announced), Point)
    next(reader)
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(mf.Error, match="cut off"):
        next(reader)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_large_file_is_read_a_piece_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    with mf.ValueWriter(path, Point) as out:
        for x in range(50_000):
            out.write(point(x))
    source = Counted(path.read_bytes())
    reader = mf.ValueReader(source, Point)
    next(reader)
    assert source.given < path.stat().st_size / 2


PROGRAM = """
    import sys
    import mf
    from tests.vectors.make_values import kind_of

    Point, Rank = kind_of("old", "Point"), kind_of("old", "Rank")
    out = mf.ValueWriter(sys.argv[1], Point, append=True)
    x = 0
    while True:
        out.write(Point(x=x, y=0, rank=Rank.good))
        x += 1
        if x % 100_000 == 0:
            print(x, flush=True)
"""


def test_a_writer_that_is_killed_leaves_whole_values_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "points.mfv"
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "100000\n"
        program.send_signal(signal.SIGKILL)
    written(path, point(7), append=True, drop_cut=True)
    found = xs(path)
    assert found[-1] == 7
    assert found[:-1] == list(range(len(found) - 1))
    assert len(found) > 50_000


def test_a_full_disk_is_told_in_words_and_the_file_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the limit would cut it off
    path = tmp_path / "points.mfv"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    out = mf.ValueWriter(path, Point)
    out.write(point(0))
    out.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 1000, hard))
    try:
        for x in range(1, 200):
            out.write(point(x))
        with pytest.raises(mf.Error, match="File too large; values in the file: 1, lost: 199") as raised:
            out.flush()
        assert raised.value.code is mf.Code.UNAVAILABLE
        assert xs(path) == [0]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    out.write(point(200))
    out.close()
    assert xs(path) == [0, 200]
