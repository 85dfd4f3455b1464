"""server.py [tcp://HOST:PORT]"""

import sys

import mf
from track import Track
from trips import Book, Trip, TripsServant


class Trips(TripsServant):
    def thin(self, track: Track, step: int) -> Track:
        return Track(track.points[::step])

    def add(self, book: Book, trip: Trip) -> Book:
        book.trips.append(trip)
        book.tracks.append(trip.track)
        book.last = trip.track
        return book


server = mf.Server(sys.argv[1] if len(sys.argv) > 1 else "tcp://127.0.0.1:7402")
server.offer(Trips())
server.start()
print(server.address, flush=True)
server.run()
