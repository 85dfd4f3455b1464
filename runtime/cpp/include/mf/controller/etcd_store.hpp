#pragma once
// The store that several controllers share: an etcd cluster, spoken to over the JSON gateway of its API v3.
//
// What a controller registers belongs to a lease of its run: it stays for kLease after the controller's
// death, and each of the others tells its clients of it. Leads belong to the same lease; a controller that is
// not sure of it any more takes back those that it gave. Epochs and client ids are counted in etcd by
// compare-and-swap.
//
// Everything that concerns etcd happens on one thread of the store; no function waits for it but load(), and
// that not for long. While etcd does not answer the controller serves from memory what was known last, and
// state() says so; what changed meanwhile is written when it answers again.

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
  /// For etcds://: by what etcd is verified, and what is shown to it.
  TlsOptions tls{};
  /// Who this controller is to etcd; empty: etcd asks for nobody.
  std::string user{};
  std::string password{};
};

class EtcdStore final : public Store {
 public:
  static constexpr std::chrono::seconds kLease{10};
  /// Then a controller starts without what etcd knows.
  static constexpr std::chrono::seconds kLoadWithin{5};

  /// `where`: "host:port,host:port/PREFIX", with etcd:// or, for TLS, etcds:// in front; without a prefix all
  /// keys begin with "mf/". Throws Error for what is none, and for files that cannot be used. Nothing is
  /// connected before load().
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

  /// Returns when etcd has all that was told, or at that time. True: it has.
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
