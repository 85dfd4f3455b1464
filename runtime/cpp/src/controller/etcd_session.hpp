// The thread of an EtcdStore, and all its communication with etcd. A session uses one etcd server: it holds
// the lease, reads everything, watches later changes, writes what is late, and handles requests. When any of
// that fails, it ends, and after a pause a session with the next server starts.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "controller/etcd_shared.hpp"

namespace mf::controller {

class EtcdStore::Session {
 public:
  explicit Session(std::shared_ptr<Shared> shared);
  /// Ends all communication with etcd.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// There is something to write or to request. Thread-safe.
  void wake();
  /// Sends the request to etcd; refuses it at once if there is no connection. Thread-safe.
  void ask(Shared::Ask ask);

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  using Object = boost::json::object;
  using Clock = std::chrono::steady_clock;

  /// All keys with the prefix, as they were at a revision.
  struct Snapshot {
    std::int64_t revision = 0;
    std::vector<etcd::KeyValue> values{};
  };
  struct Counter {
    std::uint64_t value = 0;
    std::int64_t revision = 0;
  };

  Awaitable<void> run();
  Awaitable<void> live(Address server);
  Awaitable<void> hold_lease(etcd::Connection& etcd);
  /// False if etcd does not know it any more.
  Awaitable<bool> renew_lease(etcd::Connection& etcd);
  void set_lease(std::int64_t seconds, Clock::time_point asked);
  void lease_over();
  Awaitable<void> name_cluster(etcd::Connection& etcd);
  Awaitable<Snapshot> read_all(etcd::Connection& etcd);
  void take(const Snapshot& snapshot);
  void take_value(const etcd::KeyValue& value);

  Awaitable<void> watch(etcd::Watch& watch);
  Awaitable<void> keep(etcd::Connection& etcd);
  Awaitable<void> write(etcd::Connection& etcd);
  Awaitable<void> write_batch(etcd::Connection& etcd, const std::vector<std::string>& keys);
  Awaitable<void> answer(etcd::Connection& etcd, Shared::Ask& ask);
  Awaitable<std::optional<std::uint64_t>> take_lead(etcd::Connection& etcd, const Shared::Ask& ask);
  Awaitable<void> give_up_lead(etcd::Connection& etcd, const Shared::Ask& ask);
  Awaitable<std::optional<std::uint32_t>> take_client_ids(etcd::Connection& etcd, std::uint32_t count);

  /// Another program has removed keys that this controller has written: they are written again, and until
  /// then the store is not ok.
  void note_removed(std::size_t keys);
  void note_written();
  void connected();
  void disconnected(const std::string& why);
  [[nodiscard]] std::shared_ptr<StoreListener> listener() const;
  void tell(const std::set<Uuid>& changed, bool leads);
  [[nodiscard]] std::string at(std::string_view key) const { return shared_->prefix + std::string(key); }
  [[nodiscard]] std::string own(std::string_view key) const {
    return at("at/") + shared_->run + "/" + std::string(key);
  }

  const std::shared_ptr<Shared> shared_;
  boost::asio::io_context io_{1};
  boost::asio::steady_timer wake_{io_};
  boost::asio::steady_timer lease_timer_{io_};
  std::int64_t lease_ = 0;     // 0: none
  bool lease_in_use_ = false;  // other controllers may have seen keys of it
  Clock::time_point lease_until_{};
  std::set<std::string> held_;  // the leads that this controller has taken and not given up
  bool cluster_removed_ = false;
  bool mends_ = false;     // removed keys are being written again
  std::int64_t seen_ = 0;  // the revision that the watch has reached
  Counter epoch_;
  Counter client_ids_;
  std::size_t server_ = 0;
  std::chrono::milliseconds pause_;
  std::thread thread_;
};

}  // namespace mf::controller
