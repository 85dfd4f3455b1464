"""`mfidlc import --archive`: protobuf's own bytes of a .proto file are read and written by what was imported."""

import importlib
import subprocess
import sys
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


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    """Protobuf's, and ours."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "entries.proto").write_text(PROTO)
    subprocess.run(["protoc", "--python_out=.", "entries.proto"], cwd=folder, check=True)
    result = import_files([str(folder / "entries.proto")], Options(archive=True))
    assert not result.failed
    files = [folder / each.path for each in result.schemas]
    for each, file in zip(result.schemas, files, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(each.text)
    targets = Targets(python=str(folder / "out"), python_package="")
    outcome = compile_files([str(each) for each in files], [str(folder)], targets)
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    sys.path[:0] = [str(folder), str(folder / "out")]
    try:
        return importlib.import_module("entries_pb2"), importlib.import_module("stored.entries")
    finally:
        del sys.path[:2]


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
