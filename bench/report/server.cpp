// `report_server WORKERS`: an indexer whose requests are read by WORKERS threads beside the one that reads
// the socket (0: by that one), and a door of dCache with three processes behind it, made by fork.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "report.client.hpp"
#include "report.server.hpp"
#include "rpc/commands.hpp"
#include "values.hpp"

namespace bench_report {
namespace {

class Indexer final : public report::IndexerServant {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
  std::int32_t look_up(std::int32_t id, const std::string& name) override {
    return bench_rpc::looked_up(id, name.size());
  }
  std::uint32_t add(const report::Document& document) override {
    return static_cast<std::uint32_t>(document.terms.size());
  }
};

class Metadata final : public report::MetadataServant {
 public:
  report::Attributes attributes(const std::string& path, const report::Subject& /*by*/) override {
    return bench_report::attributes(path);
  }
};

class PoolManager final : public report::PoolManagerServant {
 public:
  report::Selection select(const report::Attributes& /*of*/, const report::Subject& /*by*/) override {
    return selection();
  }
  void heartbeat(const report::Heartbeat& /*state*/) override { ++heard_; }
  std::uint64_t heartbeats() override { return heard_; }

 private:
  std::atomic<std::uint64_t> heard_{0};
};

class Pool final : public report::PoolServant {
 public:
  explicit Pool(const std::string& manager) : client_(manager), manager_(client_) {}

  report::Mover open(const report::Attributes& /*of*/, const report::Selection& /*selection*/,
                     const report::Subject& /*by*/) override {
    return mover();
  }
  void beat(std::uint32_t per_second) override {
    const std::scoped_lock lock(mutex_);
    per_second_ = per_second;
    changed_.notify_all();
  }

 private:
  void beat_on(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t serial = 0; !stop.stop_requested(); ++serial) {
      changed_.wait(lock, stop, [this] { return per_second_ != 0; });
      if (stop.stop_requested()) return;
      const auto next =
          std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second_;
      lock.unlock();
      manager_.heartbeat(heartbeat(serial));
      lock.lock();
      changed_.wait_until(lock, stop, next, [] { return false; });
    }
  }

  mf::Client client_;
  const report::PoolManagerClient manager_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint32_t per_second_ = 0;
  std::jthread beating_{[this](const std::stop_token& stop) { beat_on(stop); }};
};

struct Behind {
  std::string metadata;
  std::string manager;
  std::string pool;
};

class Door final : public report::DoorServant {
 public:
  explicit Door(const Behind& behind)
      : metadata_client_(behind.metadata),
        manager_client_(behind.manager),
        pool_client_(behind.pool),
        metadata_(metadata_client_),
        manager_(manager_client_),
        pool_(pool_client_) {}

  report::Mover open(const std::string& path, const report::Subject& by) override {
    const auto attributes = metadata_.attributes(path, by);
    const auto selected = manager_.select(attributes, by);
    return pool_.open(attributes, selected, by);
  }
  std::uint64_t heartbeats() override { return manager_.heartbeats(); }
  void beat(std::uint32_t per_second) override { pool_.beat(per_second); }

 private:
  mf::Client metadata_client_;
  mf::Client manager_client_;
  mf::Client pool_client_;
  const report::MetadataClient metadata_;
  const report::PoolManagerClient manager_;
  const report::PoolClient pool_;
};

/// A process with one servant, which ends with this process.
class Process {
 public:
  using Make = std::function<std::shared_ptr<mf::Servant>()>;

  explicit Process(const Make& make) {
    std::array<int, 2> port{};
    std::array<int, 2> alive{};
    bench_rpc::check(::pipe(port.data()) == 0 && ::pipe(alive.data()) == 0, "no pipes are left");
    if (::fork() == 0) {
      for (const int fd : {STDIN_FILENO, port[0], alive[1]}) ::close(fd);
      serve(make, port[1], alive[0]);
    }
    ::close(port[1]);
    ::close(alive[0]);
    alive_ = alive[1];
    std::uint16_t said = 0;
    bench_rpc::check(::read(port[0], &said, sizeof said) == sizeof said, "a process did not start");
    ::close(port[0]);
    url_ = "tcp://127.0.0.1:" + std::to_string(said);
  }
  ~Process() {
    ::close(alive_);
    (void)::wait(nullptr);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  [[noreturn]] static void serve(const Make& make, int port, int alive) {
    {
      mf::Server server;
      server.offer(make());
      server.start();
      const std::uint16_t number = server.address().port;
      bench_rpc::check(::write(port, &number, sizeof number) == sizeof number, "the port is not read");
      char end = 0;
      (void)!::read(alive, &end, 1);
    }
    ::_exit(0);
  }

  int alive_ = -1;
  std::string url_;
};

void serve(std::size_t workers) {
  const Process metadata([] { return std::make_shared<Metadata>(); });
  const Process manager([] { return std::make_shared<PoolManager>(); });
  const Process pool([&] { return std::make_shared<Pool>(manager.url()); });
  mf::Server server({.workers = std::max<std::size_t>(workers, 1)});
  server.offer(std::make_shared<Indexer>(),
               {.where = workers == 0 ? mf::Where::io_thread : mf::Where::worker});
  server.offer(std::make_shared<Door>(
      Behind{.metadata = metadata.url(), .manager = manager.url(), .pool = pool.url()}));
  server.start();
  bench_rpc::serve_until_stdin_ends(server.address().port);
}

}  // namespace
}  // namespace bench_report

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: report_server WORKERS\n", stderr);
    return 2;
  }
  bench_report::serve(std::stoul(argv[1]));
  return 0;
}
