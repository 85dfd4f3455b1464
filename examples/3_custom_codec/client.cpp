// trips-client [tcp://HOST:PORT]
#include <iomanip>
#include <iostream>

#include "mf/codec/hash.hpp"
#include "mf/codec/value.hpp"
#include "trips.client.hpp"
#include "trips.hpp"

namespace {

/// A walk from Gangnam to the north-east, a step a second.
geo::Track walk(std::int32_t steps) {
  geo::Track track;
  for (std::int32_t at = 0; at < steps; ++at)
    track.points.push_back({.latitude = 37'497'942 + 9 * at, .longitude = 127'027'621 + at * at % 23});
  return track;
}

}  // namespace

int main(int argc, char** argv) {
  mf::Client client(argc > 1 ? argv[1] : "tcp://127.0.0.1:7402");
  const trips::TripsClient service(client);

  const geo::Track track = walk(1000);
  const geo::Track thinned = service.thin(track, 10);
  std::cout << track.points.size() << " points in " << geo::TrackCodec::size(track) << " bytes, thinned to "
            << thinned.points.size() << '\n';

  trips::Trip trip;
  trip.name = "to work";
  trip.track = track;
  trip.detours = {thinned, geo::Track{}, walk(7)};
  trip.by_day = {{5, walk(3)}, {1, walk(2)}};
  trips::Book book;
  book.owner = "Ann";
  book = service.add(book, trip);
  trip.planned = walk(40);
  book = service.add(book, trip);
  std::cout << book.owner << ": " << book.trips.size() << " trips, the last of "
            << book.last.value_or(geo::Track{}).points.size() << " points, " << mf::to_bytes(book).size()
            << " bytes, hash " << std::hex << std::setw(16) << std::setfill('0') << mf::hash64(book) << '\n';
}
