// `report_client PORT`: the technical report's experiments and dCache's chain, each compared with what it
// improves on.
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/codec/value.hpp"
#include "mf/light/light.hpp"
#include "queues.hpp"
#include "report.client.hpp"
#include "report.server.hpp"
#include "rpc/commands.hpp"
#include "values.hpp"

namespace bench_report {
namespace {

using bench_rpc::check;
using bench_rpc::Metrics;
using bench_rpc::Run;
using Stub = report::IndexerClient;
constexpr std::size_t kManagers = 4;         // clients of the queues
constexpr std::size_t kIndexingThreads = 4;  // that send documents
constexpr std::uint32_t kBeatsPerSecond = 2'000;

/// Distributes `count` calls over threads; call(thread, i) makes one.
template <class Call>
void in_threads(std::size_t threads, std::size_t count, Call call) {
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (std::size_t i = t; i < count; i += threads) call(t, static_cast<std::int32_t>(i));
    });
  }
}

/// How a caller learns that its reply has come (section 4.1).
enum class Waits : std::uint8_t { polling, semaphore, here };

class Waiting {
 public:
  Waiting(const Stub& stub, Waits how) : stub_(stub), how_(how) {}

  std::int32_t next(std::int32_t x) {
    if (how_ == Waits::here) return stub_.next(x);
    return how_ == Waits::polling ? poll(x) : sleep(x);
  }

 private:
  std::int32_t poll(std::int32_t x) const {
    std::atomic<bool> arrived{false};
    std::int32_t value = 0;
    stub_.async_next(x, [&](const mf::Outcome<std::int32_t>& outcome) {
      value = outcome.value();
      arrived.store(true, std::memory_order_release);
    });
    while (!arrived.load(std::memory_order_acquire))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return value;
  }

  /// As the report does it: a map of request ids to semaphores, under a mutex.
  std::int32_t sleep(std::int32_t x) {
    std::binary_semaphore arrived{0};
    std::int32_t value = 0;
    {
      const std::scoped_lock lock(mutex_);
      waiting_[x] = &arrived;
    }
    stub_.async_next(x, [&, x](const mf::Outcome<std::int32_t>& outcome) {
      value = outcome.value();
      std::binary_semaphore* semaphore = nullptr;
      {
        const std::scoped_lock lock(mutex_);
        const auto found = waiting_.find(x);
        semaphore = found->second;
        waiting_.erase(found);
      }
      semaphore->release();
    });
    arrived.acquire();
    return value;
  }

  const Stub& stub_;
  const Waits how_;
  std::mutex mutex_;
  std::map<std::int32_t, std::binary_semaphore*> waiting_;
};

Run wait(const Stub& stub, std::size_t count, std::size_t threads, Waits how) {
  return [=, &stub] {
    Waiting waiting(stub, how);
    std::vector<double> us(count);
    const auto start = bench_rpc::Clock::now();
    in_threads(threads, count, [&](std::size_t, std::int32_t i) {
      const auto before = bench_rpc::now_ns();
      check(waiting.next(i) == i + 1, "a wrong answer");
      us[static_cast<std::size_t>(i)] = static_cast<double>(bench_rpc::now_ns() - before) / 1e3;
    });
    const double seconds = bench_rpc::seconds_since(start);
    auto metrics = bench_rpc::percentiles(std::move(us));
    metrics.emplace_back("requests_per_s", static_cast<double>(count) / seconds);
    return metrics;
  };
}

/// One batch for each manager, all managers at once.
template <class CallAll>
Run managers(std::size_t count, CallAll call_all) {
  const auto each = std::max<std::size_t>(count / kManagers, 1);
  std::vector<std::int32_t> ids(each);
  std::vector<std::string> names(each);
  for (std::size_t i = 0; i < each; ++i) {
    ids[i] = static_cast<std::int32_t>(i);
    names[i] = bench_rpc::name_of(i);
  }
  return [=] {
    return bench_rpc::all_at_once(each * kManagers, [&] {
      in_threads(kManagers, kManagers, [&](std::size_t manager, std::int32_t) {
        const std::vector<std::int32_t> values = call_all(manager, ids, names);
        for (std::size_t i = 0; i < each; ++i) {
          check(values[i] == bench_rpc::looked_up(ids[i], names[i].size()), "a wrong answer");
        }
      });
    });
  };
}

Run queued(const Stub& here, std::size_t count, Form form) {
  const auto light = std::make_shared<QueuedLight>(
      form, kManagers, [&](std::int32_t id, const std::string& name) { return here.look_up(id, name); });
  return managers(count, [light](std::size_t manager, const auto& ids, const auto& names) {
    return light->call(manager, ids, names);
  });
}

/// mf's own way: the servant's function runs on its caller's thread.
Run called(const Stub& here, std::size_t count) {
  return managers(count, [&](std::size_t, const auto& ids, const auto& names) {
    std::vector<std::int32_t> values(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) values[i] = here.look_up(ids[i], names[i]);
    return values;
  });
}

Run index(const Stub& stub, std::size_t count) {
  return [=, &stub, made = document(7)] {
    return bench_rpc::all_at_once(count, [&] {
      in_threads(kIndexingThreads, count, [&](std::size_t, std::int32_t) {
        check(stub.add(made) == made.terms.size(), "a wrong answer");
      });
    });
  };
}

Run open(const report::DoorClient& door, std::size_t count, std::uint32_t beats_per_second) {
  return [=, &door, by = subject()] {
    door.beat(beats_per_second);
    const auto before = door.heartbeats();
    const auto start = bench_rpc::Clock::now();
    auto metrics = bench_rpc::one_by_one(count, [&](std::int32_t) {
      check(door.open("/data/atlas/run-0042/file-000017.root", by).id == mover().id, "a wrong answer");
    });
    const auto heard = static_cast<double>(door.heartbeats() - before);
    metrics.emplace_back("heartbeats_per_s", heard / bench_rpc::seconds_since(start));
    door.beat(0);
    return metrics;
  };
}

template <class T>
void there_and_back(const T& value) {
  check(static_cast<bool>(mf::from_bytes<T>(mf::to_bytes(value))), "unreadable bytes");
}

/// The cost of writing and reading the messages of one open, on one thread, without calls.
Run messages(std::size_t count) {
  const std::string path = "/data/atlas/run-0042/file-000017.root";
  return [=, by = subject(), of = attributes(path), chosen = selection(), opened = mover()] {
    return bench_rpc::one_by_one(count, [&](std::int32_t) {
      there_and_back(report::DoorOpenRequest{.path = path, .by = by});
      there_and_back(report::MetadataAttributesRequest{.path = path, .by = by});
      there_and_back(of);
      there_and_back(report::PoolManagerSelectRequest{.of = of, .by = by});
      there_and_back(chosen);
      there_and_back(report::PoolOpenRequest{.of = of, .selection = chosen, .by = by});
      there_and_back(opened);
      there_and_back(opened);  // from the pool to the door, and on to the client
    });
  };
}

Run heartbeats(std::size_t count) {
  return [=, state = heartbeat(1)] {
    return bench_rpc::one_by_one(count, [&](std::int32_t) { there_and_back(state); });
  };
}

class Local final : public report::IndexerServant {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
  std::int32_t look_up(std::int32_t id, const std::string& name) override {
    return bench_rpc::looked_up(id, name.size());
  }
  std::uint32_t add(const report::Document& document) override {
    return static_cast<std::uint32_t>(document.terms.size());
  }
};

int call(const std::string& port) {
  mf::Client client("tcp://127.0.0.1:" + port);
  const Stub stub(client);
  const report::DoorClient door(client);
  mf::Light light;
  light.offer(std::make_shared<Local>());
  mf::Client local(light);
  const Stub here(local);

  bench_rpc::Works works{
      {"light_100k", [&](std::size_t n) { return called(here, n); }},
      {"light_100k/global-queues", [&](std::size_t n) { return queued(here, n, Form::global); }},
      {"light_100k/queues", [&](std::size_t n) { return queued(here, n, Form::direct); }},
      {"light_100k/queues-merged", [&](std::size_t n) { return queued(here, n, Form::merged); }},
      {"index_60kb", [&](std::size_t n) { return index(stub, n); }},
      {"dcache_open", [&](std::size_t n) { return open(door, n, 0); }},
      {"dcache_open/heartbeats", [&](std::size_t n) { return open(door, n, kBeatsPerSecond); }},
      {"dcache_messages", messages},
      {"dcache_heartbeat", heartbeats},
  };
  for (const std::size_t threads : {1, 16}) {
    const auto name = "wait_" + std::to_string(threads);
    works[name] = [&, threads](std::size_t n) { return wait(stub, n, threads, Waits::here); };
    works[name + "/polling"] = [&, threads](std::size_t n) { return wait(stub, n, threads, Waits::polling); };
    works[name + "/semaphores"] = [&, threads](std::size_t n) {
      return wait(stub, n, threads, Waits::semaphore);
    };
  }
  return bench_rpc::obey(works);
}

}  // namespace
}  // namespace bench_report

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: report_client PORT\n", stderr);
    return 2;
  }
  return bench_report::call(argv[1]);
}
