"""nesting_peer.py serve | call URL, with the stubs of nesting.mfidl on PYTHONPATH.

Types within others are parameters, results, errors, items of streams and parts of archives.
cpp/nesting_peer.cpp is the same in C++.
"""

import sys
from collections.abc import Iterator, Sequence

from checks import say
from nesting import (
    AtlasAroundResult,
    AtlasClient,
    AtlasServant,
    Place,
    Place_Shape,
    Place_Shape_Circle,
    Place_Shape_Status,
    Place_ShapeCircle,
    Place_ShapePath,
    Place_ShapePoint,
    Record,
    Status,
)

import mf


class Atlas(AtlasServant):
    def find(self, name: str, wanted: AtlasServant.Filter) -> Place:
        if not name:
            hint = AtlasServant.Nowhere.Hint(wanted.outer.text)
            raise AtlasServant.Nowhere([hint], Place.Point(1, 2))
        return Place(Place.Point(3, 4), wanted.status.least, wanted.known)

    def around(self, shape: Place.Shape, path: Sequence[Place.Point]) -> AtlasAroundResult:
        place = Place(shape=shape, shapes={"path": Place_ShapePath(list(path))})
        return AtlasAroundResult(place, Place_Shape_Status.closed)

    def circles(self, points: Iterator[Place.Point]) -> Iterator[Place_Shape]:
        for point in points:
            yield Place_ShapeCircle(Place_Shape_Circle(point, 1))

    def keep(self, record: Record) -> Record.Entry:
        return record.entries[-1]


def serve() -> None:
    server = mf.Server("tcp://127.0.0.1:0")
    server.offer(Atlas())
    server.start()
    print(server.address, flush=True)
    server.run()


def report(what: str, value: str) -> None:
    say({"what": what, "value": value})


def shown(point: Place.Point) -> str:
    return f"{point.x:.0f} {point.y:.0f}"


def call(client: mf.Client) -> None:
    atlas = AtlasClient(client)
    status = AtlasClient.Filter.Status(Place.Precision.exact)
    wanted = AtlasClient.Filter(status, Status("outer"), Place.Known.city)
    place = atlas.find("x", wanted)
    report("find", f"{shown(place.at)} {place.precision.name}")
    report("known", "city" if place.known == Place.Known.city else "other")
    try:
        atlas.find("", wanted)
    except AtlasClient.Nowhere as nowhere:
        report("nowhere", f"{nowhere.hints[0].text} {shown(nowhere.near)}")
    answer = atlas.around(Place_ShapePoint(Place.Point(5, 6)), [Place.Point(7, 8)])
    shape, path = answer.place.shape, answer.place.shapes["path"]
    assert isinstance(shape, Place_ShapePoint)
    assert isinstance(path, Place_ShapePath)
    report("around", f"{shown(shape.value)} {shown(path.value[0])}")
    report("status", answer.status.name)
    circles = atlas.circles()
    circles.write(Place.Point(9, 10))
    circles.done_writing()
    seen = [each.value.at for each in circles if isinstance(each, Place_ShapeCircle)]
    report("circles", "".join(map(shown, seen)))
    kept = atlas.keep(Record([Record.Entry(Record.Entry.Kind.added, [place])]))
    report("keep", f"{kept.kind.name} {shown(kept.places[0].at)}")


if sys.argv[1] == "serve":
    serve()
else:
    with mf.Client(sys.argv[2]) as caller:
        call(caller)
