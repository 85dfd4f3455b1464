// The controller's registry at a size for which no test has sockets: bench-controller-scale WATCHERS
// INSTANCES SERVICES CHANGES. It combines the registry, its log of changes, the index of watches and their
// cursors as the controller does, in one process without sockets; each value that a watcher receives is
// encoded as it would be sent.
//
// Prints one line: bytes of memory per instance, bytes of memory per watcher, watchers notified of a change,
// microseconds of processor time per change, the same without a watcher, bytes of one value that was sent,
// microseconds of processor time for a snapshot for one watcher, bytes of a snapshot.

#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/codec/value.hpp"
#include "mf/controller.hpp"
#include "mf/controller/cursor.hpp"
#include "mf/controller/registry.hpp"
#include "mf/controller/watch_index.hpp"

namespace {

using namespace mf::controller;

constexpr std::uint64_t kRun = 7;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "bench-controller-scale: " << what << '\n';
  std::_Exit(1);
}

/// Processor time of this process, which other processes distort less than wall-clock time.
double processor_us() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double memory() {
  return static_cast<double>(::mallinfo2().uordblks);
}

mf::Uuid number(std::uint64_t value) {
  mf::Uuid made;
  std::memcpy(made.bytes.data(), &value, sizeof value);
  return made;
}

class Scale {
 public:
  Scale(std::size_t watchers, std::size_t instances, std::size_t services)
      : watchers_(watchers), instances_(instances), services_(services) {}

  void measure(std::size_t changes) {
    const double empty = memory();
    for (std::size_t i = 0; i < instances_; ++i)
      registry_.put(who(i), "bench-server", 1 + i / 1'000, {offer(i, 1)}, mf::now());
    const double with_instances = memory();
    watch_all();
    const double with_watchers = memory();

    const double before_snapshots = processor_us();
    std::size_t snapshot_bytes = 0;
    for (Cursor& cursor : cursors_) snapshot_bytes += tell(cursor);
    const double snapshots = processor_us() - before_snapshots;

    double alone = 0;
    std::size_t told = 0;
    std::size_t bytes = 0;
    const double before_changes = processor_us();
    for (std::size_t i = 0; i < changes; ++i) alone += change(i, told, bytes);
    const double of_changes = processor_us() - before_changes;

    const auto a = [](double sum, std::size_t count) { return sum / static_cast<double>(count); };
    std::printf("%.0f %.0f %.0f %.2f %.2f %.0f %.2f %.0f\n", a(with_instances - empty, instances_),
                a(with_watchers - with_instances, watchers_), a(static_cast<double>(told), changes),
                a(of_changes, changes), a(alone, changes), a(static_cast<double>(bytes), told),
                a(snapshots, watchers_), a(static_cast<double>(snapshot_bytes), watchers_));
  }

 private:
  [[nodiscard]] static Credential who(std::size_t instance) {
    Credential made;
    made.nonce = made.secret = number(instance + 1);
    return made;
  }
  [[nodiscard]] std::string service(std::size_t i) const {
    return "bench.scale.Service" + std::to_string(i % services_);
  }
  [[nodiscard]] Offer offer(std::size_t instance, std::uint32_t weight) const {
    Offer made;
    made.key.name = service(instance);
    made.addresses = {"tcp://10.0.0.7:7401"};
    made.weight = weight;
    return made;
  }

  void watch_all() {
    cursors_.reserve(watchers_);
    for (std::size_t i = 0; i < watchers_; ++i) {
      Filter filter;
      filter.name = service(i);
      index_.add(filter, i);
      cursors_.emplace_back(std::move(filter), kRun, 0, 0, registry_.log());
    }
  }

  /// Encodes everything that the watcher does not know yet; returns the number of bytes.
  std::size_t tell(Cursor& cursor) {
    std::size_t bytes = 0;
    while (auto value = cursor.next(registry_)) bytes += mf::to_bytes(*value).size();
    return bytes;
  }

  /// Returns the microseconds, without those for telling the watchers.
  double change(std::size_t i, std::size_t& told, std::size_t& bytes) {
    const std::size_t instance = i * 7'919 % instances_;
    const double begin = processor_us();
    const auto before = registry_.log().latest();
    if (!registry_.update(who(instance).nonce, {offer(instance, static_cast<std::uint32_t>(i + 2))}, {},
                          mf::now()))
      fail("an update has changed nothing");
    std::set<WatchIndex::Id> concerned;
    for (auto revision = before + 1; revision <= registry_.log().latest(); ++revision)
      index_.find(registry_.log().at(revision).place.key, concerned);
    const double found = processor_us();
    for (const auto id : concerned) {
      Cursor& cursor = cursors_[id];
      cursor.wake(before);
      const auto told_bytes = tell(cursor);
      if (told_bytes == 0) fail("a watcher was not notified");
      bytes += told_bytes;
    }
    told += concerned.size();
    return found - begin;
  }

  const std::size_t watchers_;
  const std::size_t instances_;
  const std::size_t services_;
  Registry registry_{std::chrono::hours(1)};
  WatchIndex index_;
  std::vector<Cursor> cursors_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("usage: bench-controller-scale WATCHERS INSTANCES SERVICES CHANGES");
  const auto count = [&](int at) {
    const auto value = static_cast<std::size_t>(std::stoul(argv[at]));
    if (value == 0) fail("each number is at least 1");
    return value;
  };
  Scale(count(1), count(2), count(3)).measure(count(4));
}
