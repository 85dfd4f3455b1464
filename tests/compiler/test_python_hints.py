"""`typing.get_type_hints` finds the types of generated Python: aliases follow what they name."""

import os
import subprocess
import sys
from pathlib import Path

from mfidl.compiler import check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate

ROOT = Path(__file__).parents[2]

OTHER = """
module other;
type Spots = list<Spot>;
struct Spot { at: Place; }
type Place = Point;
struct Point { x: i32; }
"""
SCHEMA = """
module hinted;
import "other.mfidl";
/// Its type is the user's.
@tier(custom) @python.codec("tracks:Codecs.Track") struct Track;
@tier(custom) @python.codec("tracks:Untyped") struct Opaque;
type Tracks = list<Track>;
type Way = Track;
struct Trip { track: Track; planned: Track?; detours: Tracks; by_day: map<u8, Way>; rest: Opaque; }
type Kids = list<Node>;
type Family = map<string, Kids>;
type One = Node;
type Words = list<string>;
type Far = other.Spots;
type Farther = list<other.Spot>;
struct Node { name: string; kids: Kids; }
union Pick { 1: one: One; 2: words: Words; }
type Picks = list<Pick>;
service Desk {
  all(one: One, kids: Kids, family: Family, far: Far, picks: Picks) -> Farther;
  watch(words: Words) -> stream<One>;
  thin(track: Track, others: Tracks, way: Way?) -> Trip;
}
"""
TRACKS = """
import hinted

class Codecs:
    class Track:
        Value = tuple[hinted.Node, ...]
        encode = staticmethod(bytes)
        decode = staticmethod(bytes)

class Untyped:
    encode = staticmethod(bytes)
    decode = staticmethod(bytes)
"""
USE = """
import sys, typing
import hinted, other
from hinted import _types

assert "tracks" not in sys.modules
seen = 0
for name, each in vars(hinted).items():
    if isinstance(each, type):
        typing.get_type_hints(each)
        for function in vars(each).values():
            if callable(function) and not isinstance(function, type):
                typing.get_type_hints(function)
                seen += 1
assert seen > 8, seen
hints = typing.get_type_hints(hinted.DeskServant.all)
assert hints["one"] is hinted.Node, hints
assert hints["kids"] == list[hinted.Node], hints
assert hints["family"] == dict[str, list[hinted.Node]], hints
assert hints["far"] == hints["return"] == list[other.Spot], hints
assert hints["picks"] == list[hinted.PickOne | hinted.PickWords], hints
assert typing.get_type_hints(hinted.Node)["kids"] == list[hinted.Node]
assert typing.get_type_hints(other.Spot)["at"] is other.Point
import tracks
Track = tracks.Codecs.Track.Value
hints = typing.get_type_hints(hinted.Trip)
assert hints["track"] == Track, hints
assert hints["planned"] == typing.Optional[Track], hints
assert hints["detours"] == list[Track], hints
assert hints["by_day"] == dict[int, Track], hints
assert hints["rest"] is object, hints
hints = typing.get_type_hints(hinted.DeskServant.thin)
assert hints["track"] == Track, hints
assert hints["others"] == list[Track], hints
assert hints["way"] == typing.Optional[Track], hints
"""


def test_hints_of_servants_clients_and_structs_are_types(tmp_path: Path) -> None:
    for name, text in (("other", OTHER), ("hinted", SCHEMA)):
        (tmp_path / f"{name}.mfidl").write_text(text)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tracks.py").write_text(TRACKS)
    outcome = check([str(tmp_path / "hinted.mfidl"), str(tmp_path / "other.mfidl")])
    assert outcome.program is not None, [each.message for each in outcome.diagnostics]
    for file in generate(outcome.program, EmitOptions("", "0")):
        path = tmp_path / "out" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)

    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", USE],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'runtime/python'}:{tmp_path / 'out'}"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert found.returncode == 0, found.stderr
