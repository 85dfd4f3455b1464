// trips-server [tcp://HOST:PORT]
#include <iostream>
#include <memory>

#include "mf/server/server.hpp"
#include "trips.server.hpp"

class Trips final : public trips::TripsServant {
 public:
  geo::Track thin(const geo::Track& track, std::uint32_t step) override {
    geo::Track thinned;
    for (std::size_t at = 0; at < track.points.size(); at += step) thinned.points.push_back(track.points[at]);
    return thinned;
  }

  trips::Book add(const trips::Book& book, const trips::Trip& trip) override {
    trips::Book longer = book;
    longer.trips.push_back(trip);
    longer.tracks.push_back(trip.track);
    longer.last = trip.track;
    return longer;
  }
};

int main(int argc, char** argv) {
  mf::Server server({.listen = argc > 1 ? argv[1] : "tcp://127.0.0.1:7402"});
  server.offer(std::make_shared<Trips>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}
