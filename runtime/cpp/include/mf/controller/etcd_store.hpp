#pragma once
// The store that several controllers share: an etcd cluster, used over the JSON gateway of its API v3.
//
// A controller's registrations belong to a lease of its run: they stay for kLease after the controller's
// death, and every other controller serves them to its clients. Leads belong to the same lease; a controller
// that may have lost the lease revokes the leads that it gave. Epochs and client ids are counted in etcd by
// compare-and-swap.
//
// One thread of the store does all work with etcd; only load() waits for it, for kLoadWithin at most. While
// etcd does not answer, the controller serves what it has in memory, and state() says so; later changes are
// written when etcd answers again.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/controller/store.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf::controller {

struct EtcdOptions {
  /// For etcds://: the CA that verifies etcd, and this controller's own certificate.
  TlsOptions tls{};
  /// This controller's user name in etcd; empty: etcd does not ask for a user.
  std::string user{};
  std::string password{};
};

class EtcdStore final : public Store {
 public:
  static constexpr std::chrono::seconds kLease{10};
  /// If etcd has not answered by then, the controller starts without etcd's data.
  static constexpr std::chrono::seconds kLoadWithin{5};

  /// `where`: "host:port,host:port/PREFIX", with etcd:// or, for TLS, etcds:// in front; without a prefix all
  /// keys begin with "mf/". Throws Error for any other text, and for files that cannot be used. It does not
  /// connect before load().
  explicit EtcdStore(std::string_view where, const Log& log = {}, const EtcdOptions& options = {});
  ~EtcdStore() override;

  [[nodiscard]] Stored load() override;
  void listen(std::shared_ptr<StoreListener> listener) override;
  [[nodiscard]] std::optional<stored::Process> elsewhere(const Uuid& nonce) const override;
  void put(const Uuid& nonce, const stored::Process& process) noexcept override;
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override;
  void remove(const Uuid& nonce) noexcept override;
  void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept override;
  void give_up_lead(const Key& key, std::uint64_t epoch) noexcept override;
  void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept override;
  [[nodiscard]] StoreStatus state() const override;

  /// Waits until etcd has all changes (true), or until the given time (false).
  bool await_written(TimePoint until) const;

 private:
  struct Shared;
  class Session;

  template <class Changes>
  void write(Changes&& changes) noexcept;

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<Session> session_;
};

}  // namespace mf::controller
