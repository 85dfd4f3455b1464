"""client.py [tcp://HOST:PORT]"""

import sys

import mf
from track import Track, TrackCodec
from trips import Book, Trip, TripsClient


def walk(steps: int) -> Track:
    """A walk from Gangnam to the north-east, a step a second."""
    return Track([(37_497_942 + 9 * at, 127_027_621 + at * at % 23) for at in range(steps)])


with mf.Client(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:7402") as client:
    service = TripsClient(client)

    track = walk(1000)
    thinned = service.thin(track, 10)
    size = len(TrackCodec.encode(track))
    print(f"{len(track.points)} points in {size} bytes, thinned to {len(thinned.points)}")

    trip = Trip("to work", track, [thinned, Track(), walk(7)], {5: walk(3), 1: walk(2)})
    book = service.add(Book("Ann"), trip)
    trip.planned = walk(40)
    book = service.add(book, trip)
    last = book.last or Track()
    print(
        f"{book.owner}: {len(book.trips)} trips, the last of {len(last.points)} points, "
        f"{len(mf.to_bytes(book))} bytes, hash {mf.hash64(book):016x}"
    )
