#include "mf/controller/etcd_store.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "controller/etcd_session.hpp"
#include "controller/etcd_shared.hpp"
#include "mf/core/error.hpp"
#include "mf/core/hex.hpp"

namespace mf::controller {
namespace {

constexpr std::string_view kScheme = "etcd://";
constexpr std::string_view kTlsScheme = "etcds://";
constexpr std::string_view kDefaultPrefix = "mf";
constexpr std::chrono::milliseconds kLastWords{500};

[[noreturn]] void refuse(std::string_view where, const std::string& why) {
  throw Error(
      Code::invalid_argument, Execution::not_executed,
      log_quoted(std::string(where)) + " is no store: " + why +
          "; expected etcd://host:port,host:port/prefix, where the prefix may be left out, or the same "
          "with etcds:// for TLS");
}

std::vector<Address> servers_of(std::string_view where, std::string_view list) {
  std::string addresses;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    addresses += (start == 0 ? "tcp://" : ",tcp://") + std::string(list.substr(start, end - start));
    start = end + 1;
  }
  try {
    return Address::parse_list(addresses);
  } catch (const Error&) {
    refuse(where, "it names no servers of etcd");
  }
}

std::string new_run() {
  std::string run;
  for (std::uint64_t rest = random_number(), i = 0; i < 16; rest >>= 4, ++i) run += kHexDigits[rest & 15];
  return run;
}

}  // namespace

EtcdStore::EtcdStore(std::string_view where, const Log& log, const EtcdOptions& options)
    : shared_(std::make_shared<Shared>()) {
  const auto whole = where;
  const bool tls = where.starts_with(kTlsScheme);
  const auto scheme = tls ? kTlsScheme : kScheme;
  if (where.starts_with(scheme)) where.remove_prefix(scheme.size());
  if (!tls && options.tls != TlsOptions()) refuse(whole, "files for TLS are for etcds://");
  const std::size_t end = std::min(where.find('/'), where.size());
  std::string_view prefix = where.substr(std::min(end + 1, where.size()));
  if (prefix.empty()) prefix = kDefaultPrefix;
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '/';
  };
  if (prefix.empty() || !std::ranges::all_of(prefix, is_plain))
    refuse(whole, "a prefix has letters, digits and - _ . / only");
  shared_->servers = servers_of(whole, where.substr(0, end));
  shared_->prefix = std::string(prefix) + "/";
  shared_->access = std::make_shared<etcd::Access>(options, tls);
  shared_->name = std::string(scheme) + std::string(where.substr(0, end)) + "/" + std::string(prefix);
  shared_->run = new_run();
  shared_->log = log;
  if (!tls && !options.user.empty())
    log.write(Level::warning, "password_in_clear",
              {{"store", shared_->name},
               {"meaning", "the user's password goes to etcd unencrypted; use etcds://"}});
  shared_->status = {.name = shared_->name,
                     .ok = false,
                     .since = std::chrono::system_clock::now(),
                     .reason = "etcd has not answered yet"};
}

EtcdStore::~EtcdStore() {
  bool connected = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    connected = shared_->connected;
    shared_->listener = nullptr;
  }
  if (connected) (void)await_written(mf::now() + kLastWords);
  session_.reset();
}

Stored EtcdStore::load() {
  session_ = std::make_unique<Session>(shared_);
  std::unique_lock lock(shared_->mutex);
  const auto until = std::chrono::steady_clock::now() + kLoadWithin;
  if (!shared_->news.wait_until(lock, until, [this] { return shared_->connected; })) {
    shared_->degraded = true;
    shared_->log.write(
        Level::error, "store_degraded",
        {{"store", shared_->name},
         {"reason", shared_->status.reason},
         {"meaning", "the controller starts without what etcd stores, and takes it in when that answers"}});
  }
  Stored stored;
  for (const auto& [run, values] : shared_->others)
    for (const auto& [key, value] : values)
      if (const auto nonce = process_of(key); nonce && !stored.processes.contains(*nonce))
        if (auto process = shared_->process(*nonce)) stored.processes.emplace(*nonce, std::move(*process));
  stored.cluster = shared_->cluster;
  stored.epoch = shared_->epoch;
  return stored;
}

void EtcdStore::listen(std::shared_ptr<StoreListener> listener) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->listener = std::move(listener);
}

std::optional<stored::Process> EtcdStore::elsewhere(const Uuid& nonce) const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->process(nonce);
}

void EtcdStore::put(const Uuid& nonce, const stored::Process& process) noexcept {
  write([&] { return process_changes(nonce, process, shared_->own_keys_of(nonce)); });
}

void EtcdStore::change(const Uuid& nonce, const std::vector<Offer>& put,
                       const std::vector<Key>& removed) noexcept {
  write([&] { return offer_changes(nonce, put, removed); });
}

void EtcdStore::remove(const Uuid& nonce) noexcept {
  write([&] {
    std::vector<stored::Change> changes;
    for (std::string& key : shared_->own_keys_of(nonce)) changes.push_back({.key = std::move(key)});
    return changes;
  });
}

template <class Changes>
void EtcdStore::write(Changes&& changes) noexcept {
  try {
    const std::scoped_lock lock(shared_->mutex);
    shared_->apply(changes());
  } catch (const std::exception&) {  // of a value that cannot be encoded
    log_escaped_exception(shared_->log, "the controller's store");
  }
  if (session_) session_->wake();
}

void EtcdStore::take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept {
  session_->ask({.kind = Shared::Ask::Kind::take_lead,
                 .key = key_text(key),
                 .number = at_least,
                 .got_epoch = std::move(done)});
}

void EtcdStore::give_up_lead(const Key& key, std::uint64_t epoch) noexcept {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->asks.push_back({.kind = Shared::Ask::Kind::give_up_lead, .key = key_text(key), .number = epoch});
  }
  if (session_) session_->wake();
}

void EtcdStore::take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept {
  session_->ask({.kind = Shared::Ask::Kind::take_client_ids, .number = count, .got_ids = std::move(done)});
}

StoreStatus EtcdStore::state() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->status;
}

bool EtcdStore::await_written(TimePoint until) const {
  std::unique_lock lock(shared_->mutex);
  return shared_->news.wait_until(
      lock, until, [this] { return shared_->late.empty() && !shared_->writing && shared_->asks.empty(); });
}

}  // namespace mf::controller
