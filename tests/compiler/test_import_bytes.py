"""`mfidlc import --archive`: protobuf's own bytes of a .proto file are read and written by what was imported."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mf
from mfidl.compiler import Exit, Targets, compile_files
from mfidl.foreign import Options, import_files

PROTO = """
syntax = "proto3";
package stored;
import "google/protobuf/timestamp.proto";
enum Level { NONE = 0; HIGH = 7; LOW = -1; }
message Entry {
  int32 a = 1; int64 b = 2; uint32 c = 3; uint64 d = 4; sint32 e = 5; sint64 f = 6;
  fixed32 g = 7; fixed64 h = 8; sfixed32 i = 9; sfixed64 j = 10;
  bool k = 11; string l = 12; bytes m = 13; float n = 14; double o = 15; Level p = 16;
  optional int64 q = 17; Entry r = 18; google.protobuf.Timestamp s = 19;
  repeated int32 t = 20; repeated int64 u = 21 [packed = false]; repeated sfixed64 v = 22; repeated string w = 23;
  repeated Entry x = 24; repeated Level y = 25;
  map<int32, string> z = 26; map<string, int64> aa = 27; map<fixed32, Entry> bb = 28;
  oneof choice { int32 cc = 29; string dd = 30; Entry ee = 31; }
}
message Outer {
  enum Level { LOW = 0; HIGH = 3; }
  message Middle {
    enum Level { COLD = 0; WARM = -2; }
    message Inner {
      enum Kind { NONE = 0; SOME = 1; }
      Kind kind = 1; Level near = 2; .stored.Outer.Level far = 3; .stored.Level farthest = 4;
      repeated Outer back = 5; map<string, Middle> middles = 6;
    }
    Inner inner = 1; Inner.Kind kind = 2;
    oneof which { Inner one = 3; Level other = 4; }
  }
  Middle middle = 1; repeated Middle.Inner inners = 2; Level level = 3;
}
"""


EDITION = """
edition = "2023";
package lab;
option features.utf8_validation = NONE;
message Box {
  option deprecated = false;
  Inner needed = 1 [features.field_presence = LEGACY_REQUIRED];
  int32 count = 2 [features.field_presence = LEGACY_REQUIRED];
  int32 plain = 3 [features.field_presence = IMPLICIT];
  int32 seen = 4;
  Inner delimited = 5 [features.message_encoding = DELIMITED];
  repeated Inner all = 6 [features.message_encoding = DELIMITED];
  repeated int32 expanded = 7 [features.repeated_field_encoding = EXPANDED];
  repeated int32 packed = 8;
  Closed closed = 9;
  repeated Closed more = 10;
  map<string, Inner> map = 11;
  int32 defaulted = 12 [default = -3];
  message Inner { int32 a = 1; enum Kind { option features.enum_type = CLOSED; ONE = 1; } Kind kind = 2; }
  enum Closed { option features.enum_type = CLOSED; A = 1; B = -2; }
}
"""
DELIMITED = """
edition = "2023";
package all;
option features.message_encoding = DELIMITED;
option features.field_presence = IMPLICIT;
message Box {
  Box left = 1;
  map<int32, Box> right = 2;
  oneof choice { Box one = 3; int32 two = 4; }
  int32 plain = 5;
}
"""
GROUPS = """
syntax = "proto2";
package old;
message Box {
  optional int32 a = 1;
  optional group Data = 2 { optional int32 q = 1; optional group Deep = 2 { optional string s = 1; } }
  repeated group Rows = 3 { required int32 r = 1; }
  oneof choice { group Held = 4 { optional int32 h = 1; } int32 other = 5; }
  enum Kind { X = 5; Y = 1; }
  optional Kind kind = 6;
}
"""


def protoc(folder: Path) -> Path:
    """One that supports editions."""
    made = folder / "protoc"
    made.write_text(f'#!/bin/sh\nexec {sys.executable} -m grpc_tools.protoc "$@"\n')
    made.chmod(0o755)
    return made


def generated(folder: Path, stem: str, text: str) -> tuple[ModuleType, ModuleType]:
    """Protobuf's module of a file, and ours of the archives that it becomes."""
    (folder / f"{stem}.proto").write_text(text)
    run = protoc(folder)
    subprocess.run([run, "-I.", "--python_out=.", f"{stem}.proto"], cwd=folder, check=True)
    result = import_files([str(folder / f"{stem}.proto")], Options(protoc=str(run), archive=True))
    assert not result.failed, [each.message for each in result.diagnostics]
    files = [folder / each.path for each in result.schemas]
    for each, file in zip(result.schemas, files, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(each.text)
    targets = Targets(python=str(folder / "out"), python_package="")
    outcome = compile_files([str(each) for each in files], [str(folder)], targets)
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    sys.path[:0] = [str(folder), str(folder / "out")]
    try:
        theirs = importlib.import_module(f"{stem}_pb2")
        return theirs, importlib.import_module(result.schemas[-1].module)
    finally:
        del sys.path[:2]


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    return generated(tmp_path_factory.mktemp("stored"), "entries", PROTO)


def filled(pb: Any) -> Any:
    entry = pb.Entry(a=-1, b=-(1 << 63), c=(1 << 32) - 1, d=(1 << 64) - 1, e=-3, f=-4, g=5, h=6, i=-7, j=-8)
    entry.k, entry.l, entry.m, entry.n, entry.o, entry.p = True, "\u00e9", b"\xff", 0.5, -2.5, -1
    entry.q = -9
    entry.r.a = 10
    entry.s.seconds, entry.s.nanos = -11, 12
    entry.t.extend([-1, 0, 1 << 30])
    entry.u.extend([-1, 0, 1 << 40])
    entry.v.extend([-1, 1 << 62])
    entry.w.extend(["", "w"])
    entry.x.add().b = -13
    entry.y.extend([7, -1, 99])
    entry.z[-1], entry.aa["k"] = "z", -14
    entry.bb[15].a = -16
    entry.ee.cc = -17
    return entry


def test_bytes_of_protobuf_are_read_and_written(modules: tuple[ModuleType, ModuleType]) -> None:
    pb, ours = modules
    sent = filled(pb)
    value = mf.from_bytes(ours.Entry, sent.SerializeToString())

    assert (value.a, value.b, value.d, value.e, value.i) == (-1, -(1 << 63), (1 << 64) - 1, -3, -7)
    assert (value.t, value.u, value.v, value.z, value.aa) == (
        [-1, 0, 1 << 30],
        [-1, 0, 1 << 40],
        [-1, 1 << 62],
        {-1: "z"},
        {"k": -14},
    )
    assert (value.s.seconds, value.q, value.ee.cc, value.cc) == (-11, -9, -17, None)
    assert pb.Entry.FromString(mf.to_bytes(value)) == sent


def test_what_protobuf_does_not_send_is_zero(modules: tuple[ModuleType, ModuleType]) -> None:
    pb, ours = modules
    value = mf.from_bytes(ours.Entry, b"")

    assert (value.a, value.j, value.k, value.l, value.m, value.p) == (0, 0, False, "", b"", ours.Level.NONE)
    assert (value.q, value.r, value.s, value.cc) == (None, None, None, None)
    assert pb.Entry.FromString(mf.to_bytes(value)) == pb.Entry()


def test_messages_and_enums_within_messages_have_the_same_bytes(
    modules: tuple[ModuleType, ModuleType],
) -> None:
    pb, ours = modules
    sent = pb.Outer(level=pb.Outer.HIGH)
    inner = sent.middle.inner
    inner.kind, inner.near, inner.far, inner.farthest = (
        inner.SOME,
        pb.Outer.Middle.WARM,
        pb.Outer.HIGH,
        pb.LOW,
    )
    inner.back.add().middle.one.kind = 1
    inner.middles["m"].kind = 1
    sent.inners.add().near = -2
    value = mf.from_bytes(ours.Outer, sent.SerializeToString())

    assert isinstance(value.middle, ours.Outer.Middle)
    held = value.middle.inner
    assert isinstance(held, ours.Outer.Middle.Inner)
    levels = (ours.Outer.Middle.Level.WARM, ours.Outer.Level.HIGH, ours.Level.LOW)
    assert (held.kind, held.near, held.far, held.farthest) == (ours.Outer.Middle.Inner.Kind.SOME, *levels)
    assert pb.Outer.FromString(mf.to_bytes(value)) == sent
    again = pb.Outer.FromString(mf.to_bytes(value)).SerializeToString(deterministic=True)
    assert again == sent.SerializeToString(deterministic=True)


def test_features_of_an_edition_are_what_they_are_in_protobuf(tmp_path: Path) -> None:
    pb, ours = generated(tmp_path, "edition_box", EDITION)
    sent = pb.Box(count=0, plain=0, seen=0, expanded=[1, -2], packed=[3, -4], closed=-2, more=[1, -2])
    sent.needed.kind = 1
    sent.delimited.a = 5
    sent.all.add().a = 6
    sent.map["m"].a = 7
    value = mf.from_bytes(ours.Box, sent.SerializeToString())

    assert (value.needed.a, value.needed.kind, value.count) == (None, ours.Box.Inner.Kind.ONE, 0)
    assert (value.plain, value.seen, value.defaulted) == (0, 0, -3)
    assert (value.expanded, value.packed, value.closed, value.more) == ([1, -2], [3, -4], -2, [1, -2])
    assert value.map["m"].a == 7
    assert {"delimited", "all"}.isdisjoint(vars(type(value)).get("__slots__", ()))
    again = pb.Box.FromString(mf.to_bytes(value))
    assert (again.delimited.a, again.all[0].a) == (5, 6)
    again.ClearField("defaulted")  # we send defaults
    assert again == sent


def test_a_required_field_of_an_edition_is_missed(tmp_path: Path) -> None:
    _, ours = generated(tmp_path, "required_box", EDITION.replace("package lab", "package required"))
    with pytest.raises(mf.Error, match="needed"):
        mf.from_bytes(ours.Box, b"\x10\x01")


def test_delimited_fields_of_a_whole_file_are_kept(tmp_path: Path) -> None:
    pb, ours = generated(tmp_path, "delimited_box", DELIMITED)
    sent = pb.Box(plain=3)
    sent.left.plain = 4
    sent.right[5].plain = 6
    sent.one.left.plain = 7
    value = mf.from_bytes(ours.Box, sent.SerializeToString())

    assert (value.plain, value.right[5].plain) == (3, 6)
    assert pb.Box.FromString(mf.to_bytes(value)) == sent


def test_groups_are_kept(tmp_path: Path) -> None:
    pb, ours = generated(tmp_path, "groups", GROUPS)
    sent = pb.Box(a=1, kind=1)
    sent.data.deep.s = "s"
    sent.rows.add().r = 2
    sent.held.h = 3
    value = mf.from_bytes(ours.Box, sent.SerializeToString())

    assert (value.a, value.kind, value.other) == (1, ours.Box.Kind.Y, None)
    assert pb.Box.FromString(mf.to_bytes(value)) == sent


def test_an_enumerator_that_a_closed_enum_lacks_is_kept(tmp_path: Path) -> None:
    pb, ours = generated(tmp_path, "unknown_groups", GROUPS.replace("package old", "package unknown"))
    value = mf.from_bytes(ours.Box, b"\x30\x07\x08\x02")

    assert (value.a, value.kind) == (2, 7)
    assert pb.Box.FromString(mf.to_bytes(value)) == pb.Box.FromString(b"\x30\x07\x08\x02")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x58\x02", id="a bool that is neither 0 nor 1"),
        pytest.param(b"\x18\x85\x80\x80\x80\x10", id="a number of more bits than its type"),
        pytest.param(b"\x08\xff\xff\xff\xff\x0f", id="a negative int32 in five bytes"),
        pytest.param(b"\x0a\x01x", id="a field of another wire type"),
    ],
)
def test_bytes_that_the_warning_names_are_refused(
    modules: tuple[ModuleType, ModuleType], data: bytes
) -> None:
    """docs/import.md states this about bytes that protobuf reads: correct it there when this test fails."""
    pb, ours = modules
    pb.Entry.FromString(data)
    with pytest.raises(mf.Error, match="DECODE_ERROR"):
        mf.from_bytes(ours.Entry, data)


BOOL = "a bool that is neither 0 nor 1"
BITS = "a number of more bits than its type"
TEXT = "text that is not UTF-8"


@pytest.mark.parametrize(
    ("text", "place", "refused"),
    [
        ('syntax = "proto3"; message A { string s = 1;\nint32 x = 2; }', (1, 39), [BITS]),
        ('syntax = "proto3";\nmessage E { }\nmessage A {\n  bool b = 1; }', (4, 8), [BOOL]),
        ('syntax = "proto2"; message A { optional string s = 1; }', (1, 48), [TEXT]),
        ('syntax = "proto3"; message A { message B { map<int32, bool> m = 1; } }', (1, 61), [BOOL, BITS]),
        ('edition = "2023"; message A { string s = 1; bytes b = 2; }', (1, 38), []),
        (
            'edition = "2023"; message A { string s = 1 [features.utf8_validation = NONE]; }',
            (1, 38),
            [TEXT],
        ),
        (
            'edition = "2023"; option features.utf8_validation = NONE; message A { string s = 1; }',
            (1, 78),
            [TEXT],
        ),
    ],
)
def test_what_archives_refuse_of_a_file_is_reported_at_its_first_field(
    tmp_path: Path, text: str, place: tuple[int, int], refused: list[str]
) -> None:
    (tmp_path / "a.proto").write_text(text)
    found = import_files([str(tmp_path / "a.proto")], Options(protoc=str(protoc(tmp_path)), archive=True))
    (warning,) = found.diagnostics
    assert warning.code == "W1004"
    assert warning.span is not None
    assert (warning.span.line(), warning.span.column()) == place
    *_, words = warning.message.partition("may write: ")
    first, _, last = words.rpartition(" and ")
    assert (first.split(", ") if first else []) == refused
    assert last == "a field with another wire type than its own"


def test_what_archives_refuse_is_reported_of_each_file_that_has_fields(tmp_path: Path) -> None:
    for name, fields in (("a", "int32 x = 1;"), ("b", "int32 x = 1; int32 y = 2;"), ("c", "")):
        (tmp_path / f"{name}.proto").write_text(
            f'syntax = "proto3"; package {name}; message A {{ {fields} }} message B {{ {fields} }}'
        )
    paths = [str(tmp_path / f"{name}.proto") for name in "abc"]
    found = import_files(paths, Options(archive=True)).diagnostics
    assert [(each.code, Path(each.span.file.path).name) for each in found if each.span] == [
        ("W1004", "a.proto"),
        ("W1004", "b.proto"),
    ]
    assert import_files(paths, Options()).diagnostics == []
