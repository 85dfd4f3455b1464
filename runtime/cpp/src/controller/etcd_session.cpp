#include "controller/etcd_session.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <exception>
#include <utility>

#include "mf/codec/value.hpp"
#include "mf/controller/stored.hpp"
#include "mf/transport/thread.hpp"

namespace mf::controller {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using etcd::Connection;
using etcd::KeyValue;

/// Frequent, since it also shows that this etcd server is available.
constexpr int kSignsOfALease = 5;
constexpr std::chrono::seconds kReadAgain{30};
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLastPause{2'000};
/// etcd's limits are 128 changes at a time, and 1.5 MiB.
constexpr std::size_t kMostChanges = 100;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kPageOfKeys = 500;
/// Other controllers may be faster; then it is refused for now.
constexpr int kMostTries = 16;

std::string text(std::int64_t number) {
  return std::to_string(number);
}

json::object compare(std::string_view key, const char* target, const char* member, std::string number) {
  return {{"key", etcd::base64(key)}, {"target", target}, {member, std::move(number)}};
}
json::object unchanged(std::string_view key, std::int64_t revision) {
  return compare(key, "MOD", "mod_revision", text(revision));
}
json::object to_put(std::string_view key, std::span<const std::byte> value, std::int64_t lease = 0) {
  json::object change{{"key", etcd::base64(key)}, {"value", etcd::base64(value)}};
  if (lease != 0) change["lease"] = text(lease);
  return {{"request_put", std::move(change)}};
}
json::object to_remove(std::string_view key) {
  return {{"request_delete_range", json::object{{"key", etcd::base64(key)}}}};
}
json::object to_read(std::string_view key) {
  return {{"request_range", json::object{{"key", etcd::base64(key)}}}};
}
json::object transaction(json::array compare, json::array success, json::array failure) {
  return {{"compare", std::move(compare)}, {"success", std::move(success)}, {"failure", std::move(failure)}};
}
/// The result of the n-th range of a failed transaction.
std::optional<KeyValue> found(const json::object& answer, std::size_t n) {
  const json::array* const responses = etcd::list(answer, "responses");
  if (responses == nullptr || responses->size() <= n)
    throw EtcdError("etcd's answer lacks a part: " + json::serialize(answer));
  const json::object* const range = etcd::member(etcd::object_in((*responses)[n]), "response_range");
  if (range == nullptr) return std::nullopt;
  return etcd::first_of(*range);
}

template <class T>
T decoded(const KeyValue& from) {
  auto read = from_bytes<T>(from.value);
  if (!read) throw EtcdError("the value of " + from.key + " in etcd is damaged: " + read.error().message());
  return std::move(*read);
}

/// Catches exceptions and stores their reason.
asio::awaitable<void> noted(asio::awaitable<void> work, std::string& why) {
  try {
    co_await std::move(work);
  } catch (const std::exception& error) {
    if (why.empty()) why = error.what();
  }
}

}  // namespace

EtcdStore::Session::Session(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), pause_(kFirstPause) {
  asio::co_spawn(io_, run(), asio::detached);
  thread_ = transport::start_thread([this] { io_.run(); });
}

EtcdStore::Session::~Session() {
  io_.stop();
  thread_.join();
}

void EtcdStore::Session::wake() {
  asio::post(io_, [this] { wake_.cancel(); });
}

void EtcdStore::Session::ask(Shared::Ask ask) {
  bool asked = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    asked = shared_->connected;
    if (asked) shared_->asks.push_back(std::move(ask));
  }
  if (asked)
    wake();
  else
    ask.refuse();
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::run() {
  asio::steady_timer timer(io_);
  for (;;) {
    std::string why;
    co_await noted(live(shared_->servers[server_]), why);
    disconnected(why);
    server_ = (server_ + 1) % shared_->servers.size();
    timer.expires_after(pause_);
    pause_ = std::min(2 * pause_, kLastPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::live(Address server) {
  using asio::experimental::awaitable_operators::operator||;
  const auto executor = co_await asio::this_coro::executor;
  Connection asks(executor, server, shared_->access);
  Connection keeps(executor, server, shared_->access);
  etcd::Watch watches(executor, server, shared_->access);
  co_await hold_lease(keeps);
  co_await name_cluster(asks);
  const Snapshot snapshot = co_await read_all(asks);
  take(snapshot);
  co_await watches.begin(shared_->prefix, snapshot.revision + 1, asks.token());
  connected();
  std::string why;
  co_await (noted(watch(watches), why) || noted(keep(keeps), why) || noted(write(asks), why));
  throw EtcdError(why);
}

// ---- the lease

EtcdStore::Session::Awaitable<void> EtcdStore::Session::hold_lease(Connection& etcd) {
  if (lease_ != 0 && co_await renew_lease(etcd)) co_return;
  lease_over();
  const auto asked = Clock::now();
  json::object question{{"TTL", text(std::int64_t{kLease.count()})}};
  const json::object answer = co_await etcd.ask("lease/grant", std::move(question));
  lease_ = etcd::number(answer, "ID");
  if (lease_ == 0) throw EtcdError("etcd gives no lease: " + json::serialize(answer));
  set_lease(etcd::number(answer, "TTL"), asked);
  const std::scoped_lock lock(shared_->mutex);
  for (const auto& [key, value] : shared_->own) shared_->late.insert(key);
}

EtcdStore::Session::Awaitable<bool> EtcdStore::Session::renew_lease(Connection& etcd) {
  const auto asked = Clock::now();
  json::object question{{"ID", text(lease_)}};
  const json::object answer = co_await etcd.ask("lease/keepalive", std::move(question));
  const json::object* const result = etcd::member(answer, "result");
  // etcd answers without an error for an unknown lease; only its remaining time is missing.
  const std::int64_t seconds = result == nullptr ? 0 : etcd::number(*result, "TTL");
  if (seconds <= 0 || lease_ == 0) co_return false;
  set_lease(seconds, asked);
  co_return true;
}

// Counted from the time of the request, so that it ends here before it ends in etcd.
void EtcdStore::Session::set_lease(std::int64_t seconds, Clock::time_point asked) {
  lease_until_ = asked + std::chrono::seconds(seconds);
  lease_timer_.expires_at(lease_until_);
  lease_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && Clock::now() >= lease_until_) lease_over();
  });
}

void EtcdStore::Session::lease_over() {
  if (std::exchange(lease_, 0) == 0) return;
  lease_timer_.cancel();
  held_.clear();
  if (!std::exchange(lease_in_use_, false)) return;
  shared_->log.write(Level::warning, "store_lease_over",
                     {{"store", shared_->name},
                      {"meaning",
                       "other controllers have forgotten what this one registered, and may give "
                       "its leads to others; it registers anew"}});
  if (const auto to = listener()) to->leads_lost();
}

// ---- etcd's data

EtcdStore::Session::Awaitable<void> EtcdStore::Session::name_cluster(Connection& etcd) {
  const std::string key = at(kClusterKey);
  stored::Cluster cluster{.id = random_uuid()};
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->cluster != Uuid()) cluster.id = shared_->cluster;  // another program has removed the key
  }
  json::object question = transaction({compare(key, "CREATE", "create_revision", "0")},
                                      {to_put(key, to_bytes(cluster))}, {to_read(key)});
  const json::object answer = co_await etcd.ask("kv/txn", std::move(question));
  if (!etcd::flag(answer, "succeeded")) {
    const auto known = found(answer, 0);
    if (!known) throw EtcdError("etcd neither has a cluster's name nor takes one");
    cluster = decoded<stored::Cluster>(*known);
  }
  bool is_news = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    is_news = std::exchange(shared_->cluster, cluster.id) != cluster.id;
  }
  if (const auto to = listener(); to && is_news) to->cluster_is(cluster.id);
}

EtcdStore::Session::Awaitable<EtcdStore::Session::Snapshot> EtcdStore::Session::read_all(Connection& etcd) {
  Snapshot snapshot;
  std::string from = shared_->prefix;
  for (bool more = true; more;) {
    json::object question{{"key", etcd::base64(from)},
                          {"range_end", etcd::base64(etcd::end_of(shared_->prefix))},
                          {"limit", text(kPageOfKeys)}};
    if (snapshot.revision != 0) question["revision"] = text(snapshot.revision);
    const json::object answer = co_await etcd.ask("kv/range", std::move(question));
    if (snapshot.revision == 0) snapshot.revision = etcd::revision_of(answer);
    const json::array* const values = etcd::list(answer, "kvs");
    if (values != nullptr)
      for (const json::value& value : *values)
        snapshot.values.push_back(etcd::key_value(etcd::object_in(value)));
    more = etcd::flag(answer, "more") && values != nullptr && !values->empty();
    if (more) from = snapshot.values.back().key + '\0';
  }
  co_return snapshot;
}

void EtcdStore::Session::take(const Snapshot& snapshot) {
  std::set<Uuid> changed;
  {
    const std::scoped_lock lock(shared_->mutex);
    const auto before = std::exchange(shared_->others, {});
    shared_->leads.clear();
    std::set<std::string, std::less<>> missing;  // keys of this controller that should be there
    for (const auto& [key, value] : shared_->own) missing.insert(key);
    const std::string own_keys = own("");
    const std::string at_keys = at("at/");
    for (const KeyValue& value : snapshot.values) {
      if (value.key.starts_with(own_keys)) {
        const std::string key = value.key.substr(own_keys.size());
        const auto wanted = shared_->own.find(key);
        if (wanted != shared_->own.end() && wanted->second == value.value)
          missing.erase(key);
        else
          shared_->late.insert(key);
      } else if (value.key.starts_with(at_keys)) {
        const std::string_view rest = std::string_view(value.key).substr(at_keys.size());
        const std::size_t end = std::min(rest.find('/'), rest.size() - 1);
        const std::string_view run = rest.substr(0, end);
        const std::string_view key = rest.substr(end + 1);
        std::set<Uuid> of;
        shared_->take(run, key, Shared::Value{value.value, value.revision}, of);
        const auto known_run = before.find(run);
        const Shared::Value* known = nullptr;
        if (known_run != before.end())
          if (const auto at = known_run->second.find(key); at != known_run->second.end()) known = &at->second;
        // After a while without etcd the controller may have relied on its own observations.
        if (!shared_->connected || known == nullptr || known->revision != value.revision) changed.merge(of);
      } else {
        take_value(value);
      }
    }
    shared_->late.insert(missing.begin(), missing.end());
    for (const auto& [run, values] : before) {
      const auto now = shared_->others.find(run);
      for (const auto& [key, value] : values)
        if (now == shared_->others.end() || !now->second.contains(key))
          if (const auto nonce = process_of(key)) changed.insert(*nonce);
    }
    seen_ = snapshot.revision;
  }
  wake_.cancel();
  tell(changed, true);
}

/// Handles a key that is not a registration. Under the lock.
void EtcdStore::Session::take_value(const KeyValue& value) {
  const std::string lead_keys = at("lead/");
  if (value.key.starts_with(lead_keys)) {
    shared_->leads[value.key.substr(lead_keys.size())] = decoded<stored::Held>(value).by;
  } else if (value.key == at(kEpochKey)) {
    epoch_ = {decoded<stored::Epoch>(value).epoch, value.revision};
    shared_->epoch = epoch_.value;
  } else if (value.key == at(kClientIdsKey)) {
    client_ids_ = {decoded<stored::ClientIds>(value).next, value.revision};
  }
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::watch(etcd::Watch& watch) {
  const std::string at_keys = at("at/");
  const std::string lead_keys = at("lead/");
  for (;;) {
    const json::object message = co_await watch.next();
    std::set<Uuid> changed;
    bool leads = false;
    bool leads_lost = false;
    std::size_t removed = 0;
    {
      const std::scoped_lock lock(shared_->mutex);
      const json::array* const events = etcd::list(message, "events");
      for (std::size_t i = 0; events != nullptr && i < events->size(); ++i) {
        const json::object& event = etcd::object_in((*events)[i]);
        const json::object* const of = etcd::member(event, "kv");
        if (of == nullptr) throw EtcdError("etcd sent a change without a key: " + json::serialize(event));
        const KeyValue value = etcd::key_value(*of);
        const json::value* const type = event.if_contains("type");
        const bool gone = type != nullptr && *type == "DELETE";
        if (value.key.starts_with(at_keys)) {
          const std::string_view rest = std::string_view(value.key).substr(at_keys.size());
          const std::size_t end = std::min(rest.find('/'), rest.size() - 1);
          if (rest.substr(0, end) == shared_->run) {
            const std::string key(rest.substr(end + 1));
            if (gone && shared_->own.contains(key) && shared_->late.insert(key).second) ++removed;
            continue;
          }
          std::optional<Shared::Value> now;
          if (!gone) now = Shared::Value{value.value, value.revision};
          shared_->take(rest.substr(0, end), rest.substr(end + 1), std::move(now), changed);
        } else if (gone && value.key.starts_with(lead_keys)) {
          const std::string key = value.key.substr(lead_keys.size());
          shared_->leads.erase(key);
          leads = true;
          leads_lost = leads_lost || held_.contains(key);
        } else if (gone && value.key == at(kClusterKey)) {
          cluster_removed_ = true;
          ++removed;
        } else if (!gone) {
          take_value(value);
        }
      }
      seen_ = std::max(seen_, etcd::revision_of(message));
    }
    if (removed != 0) note_removed(removed);
    if (leads_lost) {  // another controller may give them now
      held_.clear();
      if (const auto to = listener()) to->leads_lost();
    }
    tell(changed, leads);
  }
}

void EtcdStore::Session::tell(const std::set<Uuid>& changed, bool leads) {
  const auto to = listener();
  if (!to) return;
  if (!changed.empty()) to->changed({changed.begin(), changed.end()});
  if (leads) to->leads_may_be_had();
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::keep(Connection& etcd) {
  asio::steady_timer timer(io_);
  auto read_at = Clock::now() + kReadAgain;
  for (;;) {
    timer.expires_after(kLease / kSignsOfALease);
    co_await timer.async_wait(asio::use_awaitable);
    if (!co_await renew_lease(etcd)) throw EtcdError("etcd does not know this controller's lease any more");
    if (Clock::now() < read_at) continue;
    read_at = Clock::now() + kReadAgain;
    const Snapshot snapshot = co_await read_all(etcd);
    if (snapshot.revision >= seen_) take(snapshot);  // otherwise the watch is further by now
  }
}

// ---- this controller's data

EtcdStore::Session::Awaitable<void> EtcdStore::Session::write(Connection& etcd) {
  for (;;) {
    std::optional<Shared::Ask> ask;
    std::vector<std::string> keys;
    {
      const std::scoped_lock lock(shared_->mutex);
      shared_->writing = false;
      if (!shared_->asks.empty()) {
        ask = std::move(shared_->asks.front());
        shared_->asks.pop_front();
      }
      std::size_t bytes = 0;
      while (!ask && !shared_->late.empty() && keys.size() < kMostChanges && bytes < kMostBytes) {
        keys.push_back(std::move(shared_->late.extract(shared_->late.begin()).value()));
        const auto value = shared_->own.find(keys.back());
        bytes += keys.back().size() + (value == shared_->own.end() ? 0 : value->second.size());
      }
      shared_->writing = ask || !keys.empty() || cluster_removed_;
      if (!shared_->writing) shared_->news.notify_all();
    }
    const bool cluster = std::exchange(cluster_removed_, false);
    if (!ask && keys.empty() && !cluster) note_written();
    std::exception_ptr failed;
    try {
      if (cluster) co_await name_cluster(etcd);
      if (ask)
        co_await answer(etcd, *ask);
      else if (!keys.empty())
        co_await write_batch(etcd, keys);
    } catch (...) {
      failed = std::current_exception();
    }
    if (failed) {
      {
        const std::scoped_lock lock(shared_->mutex);
        shared_->late.insert(keys.begin(), keys.end());
        if (ask && ask->kind == Shared::Ask::Kind::give_up_lead) shared_->asks.push_front(std::move(*ask));
      }
      if (ask) ask->refuse();
      std::rethrow_exception(failed);
    }
    if (ask || !keys.empty() || cluster) continue;
    wake_.expires_at(Clock::time_point::max());
    boost::system::error_code woken;
    co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::write_batch(Connection& etcd,
                                                                    const std::vector<std::string>& keys) {
  if (lease_ == 0) throw EtcdError("this controller's lease is over");
  json::array changes;
  {
    const std::scoped_lock lock(shared_->mutex);
    for (const std::string& key : keys) {
      const auto value = shared_->own.find(key);
      changes.push_back(value != shared_->own.end() ? to_put(own(key), value->second, lease_)
                                                    : to_remove(own(key)));
    }
  }
  json::object question = transaction({}, std::move(changes), {});
  (void)co_await etcd.ask("kv/txn", std::move(question));
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::answer(Connection& etcd, Shared::Ask& ask) {
  if (ask.kind == Shared::Ask::Kind::give_up_lead) {
    co_await give_up_lead(etcd, ask);
  } else if (ask.kind == Shared::Ask::Kind::take_lead) {
    const auto epoch = co_await take_lead(etcd, ask);
    std::exchange(ask.got_epoch, nullptr)(epoch);
  } else {
    const auto first = co_await take_client_ids(etcd, static_cast<std::uint32_t>(ask.number));
    std::exchange(ask.got_ids, nullptr)(first);
  }
}

EtcdStore::Session::Awaitable<std::optional<std::uint64_t>> EtcdStore::Session::take_lead(
    Connection& etcd, const Shared::Ask& ask) {
  const std::string lead = at("lead/") + ask.key;
  for (int tries = 0; tries < kMostTries; ++tries) {
    {
      const std::scoped_lock lock(shared_->mutex);
      const auto known = shared_->leads.find(ask.key);
      if (known != shared_->leads.end() && known->second != shared_->run) co_return std::nullopt;
    }
    if (lease_ == 0) throw EtcdError("this controller's lease is over");
    const std::uint64_t epoch = std::max(ask.number, epoch_.value + 1);
    json::object question = transaction(
        {compare(lead, "CREATE", "create_revision", "0"), unchanged(at(kEpochKey), epoch_.revision)},
        {to_put(lead, to_bytes(stored::Held{.by = shared_->run, .epoch = epoch}), lease_),
         to_put(at(kEpochKey), to_bytes(stored::Epoch{.epoch = epoch}))},
        {to_read(lead), to_read(at(kEpochKey))});
    const json::object answer = co_await etcd.ask("kv/txn", std::move(question));
    if (etcd::flag(answer, "succeeded")) {
      epoch_ = {epoch, etcd::revision_of(answer)};
      held_.insert(ask.key);
      co_return lease_ != 0 ? std::optional(epoch) : std::nullopt;
    }
    const auto latest = found(answer, 1);
    epoch_ = latest ? Counter{decoded<stored::Epoch>(*latest).epoch, latest->revision} : Counter{};
    const auto held = found(answer, 0);
    if (!held) continue;
    if (decoded<stored::Held>(*held).by != shared_->run) co_return std::nullopt;
    // This controller took it without getting the answer: no process leads with it.
    json::object mend = transaction({unchanged(lead, held->revision)}, {to_remove(lead)}, {});
    (void)co_await etcd.ask("kv/txn", std::move(mend));
  }
  co_return std::nullopt;
}

EtcdStore::Session::Awaitable<void> EtcdStore::Session::give_up_lead(Connection& etcd,
                                                                     const Shared::Ask& ask) {
  held_.erase(ask.key);
  const std::string lead = at("lead/") + ask.key;
  const std::vector<std::byte> held = to_bytes(stored::Held{.by = shared_->run, .epoch = ask.number});
  json::object question =
      transaction({compare(lead, "VALUE", "value", etcd::base64(held))}, {to_remove(lead)}, {});
  (void)co_await etcd.ask("kv/txn", std::move(question));
}

EtcdStore::Session::Awaitable<std::optional<std::uint32_t>> EtcdStore::Session::take_client_ids(
    Connection& etcd, std::uint32_t count) {
  const std::string key = at(kClientIdsKey);
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto next = static_cast<std::uint32_t>(client_ids_.value);
    const std::uint32_t first = take_ids(next, count);
    json::object question =
        transaction({unchanged(key, client_ids_.revision)},
                    {to_put(key, to_bytes(stored::ClientIds{.next = next}))}, {to_read(key)});
    const json::object answer = co_await etcd.ask("kv/txn", std::move(question));
    if (etcd::flag(answer, "succeeded")) {
      client_ids_ = {next, etcd::revision_of(answer)};
      co_return first;
    }
    const auto latest = found(answer, 0);
    client_ids_ = latest ? Counter{decoded<stored::ClientIds>(*latest).next, latest->revision} : Counter{};
  }
  co_return std::nullopt;
}

// ---- state

void EtcdStore::Session::note_removed(std::size_t keys) {
  mends_ = true;
  const std::string why =
      std::to_string(keys) + " keys of this controller were removed from etcd; it writes them again";
  {
    const std::scoped_lock lock(shared_->mutex);
    if (std::exchange(shared_->status.ok, false)) shared_->status.since = std::chrono::system_clock::now();
    shared_->status.reason = why;
    shared_->degraded = true;
  }
  shared_->log.write(Level::error, "store_degraded", {{"store", shared_->name}, {"reason", why}});
  wake_.cancel();
}

void EtcdStore::Session::note_written() {
  if (!std::exchange(mends_, false)) return;
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->status = {
        .name = shared_->name, .ok = true, .since = std::chrono::system_clock::now(), .reason = {}};
    shared_->degraded = false;
  }
  shared_->log.write(Level::info, "store_recovered",
                     {{"store", shared_->name}, {"server", shared_->servers[server_].host}});
}

void EtcdStore::Session::connected() {
  pause_ = kFirstPause;
  mends_ = false;
  lease_in_use_ = true;
  bool was_ok = false;
  bool is_first = false;
  {
    const std::scoped_lock lock(shared_->mutex);
    was_ok = shared_->status.ok;
    shared_->connected = true;
    is_first = !std::exchange(shared_->degraded, false);
    if (!was_ok) shared_->status.since = std::chrono::system_clock::now();
    shared_->status.ok = true;
    shared_->status.reason.clear();
    shared_->news.notify_all();
  }
  if (!was_ok)
    shared_->log.write(Level::info, is_first ? "store_connected" : "store_recovered",
                       {{"store", shared_->name}, {"server", shared_->servers[server_].host}});
  if (const auto to = listener()) to->leads_may_be_had();
}

void EtcdStore::Session::disconnected(const std::string& why) {
  bool was_ok = false;
  std::deque<Shared::Ask> refused;
  {
    const std::scoped_lock lock(shared_->mutex);
    was_ok = std::exchange(shared_->status.ok, false);
    shared_->degraded = shared_->degraded || was_ok;
    if (was_ok) shared_->status.since = std::chrono::system_clock::now();
    shared_->status.reason = why + "; changes are kept in memory, and other controllers do not get them";
    shared_->connected = false;
    shared_->writing = false;
    for (Shared::Ask& ask : std::exchange(shared_->asks, {}))
      (ask.kind == Shared::Ask::Kind::give_up_lead ? shared_->asks : refused).push_back(std::move(ask));
  }
  if (was_ok) shared_->log.write(Level::error, "store_degraded", {{"store", shared_->name}, {"reason", why}});
  for (Shared::Ask& ask : refused) ask.refuse();
}

std::shared_ptr<StoreListener> EtcdStore::Session::listener() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->listener;
}

}  // namespace mf::controller
