// nesting-peer serve | call URL, with nesting.mfidl; programs/nesting_peer.py is the same in Python. Types
// within others are parameters, results, errors, items of streams and parts of archives.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/server/server.hpp"
#include "nesting.client.hpp"
#include "nesting.server.hpp"
#include "say.hpp"

namespace {

using interop_test::say;
using interop_test::text;
using nesting::Place;

class Atlas final : public nesting::AtlasServant {
 public:
  Place find(const std::string& name, const Filter& wanted) override {
    if (name.empty()) throw Nowhere({{.text = wanted.outer.text}}, {.x = 1, .y = 2});
    return {.at = {.x = 3, .y = 4}, .precision = wanted.status.least, .known = wanted.known};
  }

  nesting::AtlasAroundResult around(const Place::Shape& shape, const Place::Path& path) override {
    Place place{.shape = shape};
    place.shapes.emplace("path", Place::Shape::of_path(path));
    return {.place = place, .status = Place::Shape::Status_::closed};
  }

  void circles(mf::StreamReader<Place::Point>& points, mf::StreamWriter<Place::Shape>& out) override {
    for (const Place::Point& point : points) {
      out.write(Place::Shape::of_circle({.at = point, .radius = 1}));
    }
  }

  nesting::Record::Entry keep(const nesting::Record& record) override { return record.entries.back(); }
};

void serve() {
  mf::Server server({.listen = "tcp://127.0.0.1:0", .workers = 1});
  server.offer(std::make_shared<Atlas>());
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}

void report(const char* what, const std::string& value) {
  say({{"what", text(what)}, {"value", text(value)}});
}

std::string shown(const Place::Point& point) {
  return std::to_string(static_cast<int>(point.x)) + " " + std::to_string(static_cast<int>(point.y));
}

void call(mf::Client& client) {
  const nesting::AtlasClient atlas(client);
  using Filter = nesting::AtlasClient::Filter;
  const Filter wanted{.status = Filter::Status_{.least = Place::Precision::exact},
                      .outer = nesting::Status_{.text = "outer"},
                      .known = Place::Known::city};
  const Place place = atlas.find("x", wanted);
  report("find", shown(place.at) + " " + std::string(name(place.precision)));
  report("known", place.known == Place::Known::city ? "city" : "other");
  try {
    (void)atlas.find("", wanted);
  } catch (const nesting::AtlasClient::Nowhere& nowhere) {
    report("nowhere", nowhere.hints.at(0).text + " " + shown(nowhere.near_));
  }
  const Place::Shape point = Place::Shape::of_point({.x = 5, .y = 6});
  const auto [around, status] = atlas.around(point, {{.x = 7, .y = 8}});
  report("around", shown(around.shape.point()) + " " + shown(around.shapes.at("path").path().at(0)));
  report("status", std::string(name(status)));
  auto circles = atlas.circles();
  circles.write({.x = 9, .y = 10});
  circles.done_writing();
  std::string seen;
  for (const Place::Shape& shape : circles) seen += shown(shape.circle().at);
  report("circles", seen);
  nesting::Record record;
  nesting::Record::Entry& entry = record.entries.emplace_back();
  entry.kind = nesting::Record::Entry::Kind::added;
  entry.places = {place};
  const nesting::Record::Entry kept = atlas.keep(record);
  report("keep", std::string(name(kept.kind)) + " " + shown(kept.places.at(0).at));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "serve") {
    serve();
  } else if (mode == "call" && argc == 3) {
    mf::Client client(argv[2]);
    call(client);
  } else {
    return 2;
  }
}
