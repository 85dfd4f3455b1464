// Calls each form of method of the generated namespace `depot`, and prints the results, as use.py does.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "depot.client.hpp"
#include "depot.server.hpp"
#include "depot.topics.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"

namespace {

using namespace depot::parts;

const char* said(bool value) {
  return value ? "True" : "False";
}

Part named(const std::string& code) {
  Part part;
  part.code = code;
  return part;
}

class Store final : public depot::StoreServant {
 public:
  std::uint32_t put(const Part& part) override {
    const auto same = [&](const Part& other) { return other.code == part.code; };
    const auto at = std::find_if(parts_.begin(), parts_.end(), same);
    if (at == parts_.end()) {
      parts_.push_back(part);
    } else {
      *at = part;
    }
    return static_cast<std::uint32_t>(parts_.size());
  }
  Found find(const std::string& code, std::uint32_t limit) override {
    if (code == "lost") throw Missing(code);
    for (const Part& part : parts_) {
      if (part.code == code) return Found::of_part(part);
    }
    return Found::of_nothing(code + " of " + std::to_string(limit));
  }
  mf::Graph<Crate> pack(const mf::Graph<Crate>& crate) override {
    mf::Graph<Crate> outer;
    outer->label = "outer";
    outer->counts["crates"] = 2;
    const mf::Ref<Crate> inside = outer.make<Crate>();
    inside->label = crate->label;
    inside->colour = crate->colour;
    outer->inside = inside;
    return outer;
  }
  depot::StoreTotalsResult totals() override {
    depot::StoreTotalsResult result;
    result.parts = parts_.size();
    for (const Part& part : parts_) result.weight += part.weight.value_or(0);
    return result;
  }
  void clear() override { parts_.clear(); }
  void touch(const std::string&) override {}
  float weigh(const std::string& code) override { return find(code, 1).part().weight.value_or(0); }
  Grade grade_of(const std::string& code) override { return find(code, 1).part().grade; }
  void scan(std::uint32_t from, mf::StreamWriter<Part>& out) override {
    for (std::size_t at = from; at < parts_.size(); ++at) {
      if (!out.write(parts_[at])) return;
    }
  }
  std::uint32_t load(mf::StreamReader<Part>& parts) override {
    std::uint32_t count = 0;
    for (const Part& part : parts) count = put(part);
    return count;
  }

 private:
  std::vector<Part> parts_;
};

class Yard final : public depot::YardServant {
 public:
  std::string name() override { return "north"; }
};

void call(mf::Client& client) {
  const depot::StoreClient store(client);
  Part bolt = named("bolt");
  bolt.grade = Grade::rough;
  bolt.marks = Mark::checked | Mark::sold;
  bolt.spots = {{.x = 1.5, .y = -2.0}};
  bolt.weight = 0.5F;
  const auto first = store.put(bolt);
  std::cout << "put " << first << ' ' << store.put(named("nut")) << '\n';
  const Found found = store.find("bolt");
  const Found none = store.find("none");
  std::cout << "find " << said(found.is_part() && found.part() == bolt) << ' '
            << said(none == Found::of_nothing("none of 5")) << '\n';
  try {
    (void)store.find("lost");
  } catch (const Missing& missing) {
    std::cout << "missing " << missing.code << '\n';
  }
  mf::Graph<Crate> inner;
  inner->label = "inner";
  inner->colour = Colour::plain;
  const auto crate = store.pack(inner);
  std::cout << "pack " << crate->label << ' ' << crate->inside->label << ' '
            << said(crate->inside->colour == Colour::plain) << ' ' << crate->counts.at("crates") << '\n';
  const auto totals = store.totals();
  std::cout << "totals " << totals.parts << ' ' << totals.weight << '\n';
  const std::vector<depot::StoreWeighRequest> requests{{.code = "bolt"}};
  std::cout << "weigh [";
  for (const auto& outcome : store.weigh_bulk(requests)) std::cout << outcome.value();
  std::cout << "]\n";
  const auto grade = store.grade_of("bolt");
  std::cout << "grade " << to_string(grade) << ' ' << to_string(store.grade_of("bolt")) << '\n';
  auto loading = store.load();
  (void)loading.write(named("cog"));
  (void)loading.write(named("axle"));
  std::cout << "load " << loading.finish() << '\n';
  std::cout << "scan";
  for (const Part& part : store.scan(2)) std::cout << ' ' << part.code;
  std::cout << '\n';
  store.touch("bolt");
  store.clear();
  std::cout << "cleared " << store.totals().parts << '\n';
  std::cout << "yard " << depot::YardClient(client).at("here").name() << '\n';
}

}  // namespace

int main() {
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(std::make_shared<Store>());
  server.offer(std::make_shared<Yard>(), {.agent = "here"});
  server.start();
  {
    mf::Client client(server.address().str());
    call(client);
  }
  server.stop();
  mf::Topics topics;
  depot::SalesSubscriber sales(topics);
  depot::SalesPublisher(topics).publish(named("cog"));
  std::cout << "sold " << sales.next()->code << '\n';
}
