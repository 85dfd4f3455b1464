// The data that the functions of an EtcdStore and its thread share: this controller's keys in etcd, and those
// of other controllers. Plain data under one lock; nothing here communicates with etcd.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/drawn_ids.hpp"
#include "controller/etcd_client.hpp"
#include "controller/stored_values.hpp"
#include "mf/controller/etcd_store.hpp"

namespace mf::controller {

struct EtcdStore::Shared {
  struct Value {
    Bytes bytes;
    std::int64_t revision = 0;
  };
  using Values = std::map<std::string, Value, std::less<>>;
  using Own = std::map<std::string, Bytes, std::less<>>;

  /// One request, answered once.
  struct Ask {
    enum class Kind : std::uint8_t { take_lead, give_up_lead, take_client_ids } kind{};
    std::string key{};         // of a lead
    std::uint64_t number = 0;  // the least epoch, the epoch, or the count
    Done<std::uint64_t> got_epoch{};
    Done<std::uint32_t> got_ids{};

    void refuse() {
      if (got_epoch) std::exchange(got_epoch, nullptr)(std::nullopt);
      if (got_ids) std::exchange(got_ids, nullptr)(std::nullopt);
    }
  };

  std::vector<Address> servers;
  std::shared_ptr<etcd::Access> access;
  std::string prefix;  // with a '/' at its end
  std::string name;
  std::string run;
  Log log;

  mutable std::mutex mutex;  // guards all members below
  mutable std::condition_variable news;
  std::shared_ptr<StoreListener> listener;
  Own own;                     // this controller's data for etcd, by keys as in stored.mfidl
  std::set<std::string> late;  // keys whose value in `own` etcd does not have yet
  bool writing = false;        // some of them were taken, and are being written
  std::deque<Ask> asks;
  std::map<std::string, Values, std::less<>> others;      // data of other controllers, by run
  std::map<std::string, std::string, std::less<>> leads;  // the granting controller of each lead, by key_text
  bool connected = false;
  bool degraded = false;  // the log says so
  StoreStatus status{};
  Uuid cluster{};
  std::uint64_t epoch = 0;

  void apply(std::vector<stored::Change> changes) {
    for (stored::Change& change : changes) {
      const auto known = own.find(change.key);
      if (change.value ? known != own.end() && known->second == *change.value : known == own.end()) continue;
      if (change.value)
        own.insert_or_assign(change.key, std::move(*change.value));
      else
        own.erase(known);
      late.insert(std::move(change.key));
    }
  }

  [[nodiscard]] std::vector<std::string> own_keys_of(const Uuid& nonce) const {
    std::vector<std::string> keys;
    const std::string beginning = process_key(nonce);
    for (auto at = own.lower_bound(beginning); at != own.end() && at->first.starts_with(beginning); ++at)
      keys.push_back(at->first);
    return keys;
  }

  /// Another controller's value has changed; without a value it was removed.
  void take(std::string_view of_run, std::string_view key, std::optional<Value> value, std::set<Uuid>& of) {
    auto values = others.find(of_run);
    if (values == others.end()) {
      if (!value) return;
      values = others.emplace(of_run, Values()).first;
    }
    if (value) {
      values->second.insert_or_assign(std::string(key), std::move(*value));
    } else if (const auto known = values->second.find(key); known != values->second.end()) {
      values->second.erase(known);
      if (values->second.empty()) others.erase(values);
    }
    if (const auto nonce = process_of(key)) of.insert(*nonce);
  }

  /// The offers of a process; if several controllers have it, the most recently reported ones.
  [[nodiscard]] std::optional<stored::Process> process(const Uuid& nonce) const {
    const std::string beginning = process_key(nonce);
    std::map<std::string, Bytes, std::less<>> latest;
    std::int64_t latest_revision = -1;
    for (const auto& [of_run, values] : others) {
      if (!values.contains(beginning)) continue;
      std::map<std::string, Bytes, std::less<>> found;
      std::int64_t revision = 0;
      for (auto at = values.lower_bound(beginning); at != values.end() && at->first.starts_with(beginning);
           ++at) {
        revision = std::max(revision, at->second.revision);
        found.emplace(at->first, at->second.bytes);
      }
      if (revision <= latest_revision) continue;
      latest_revision = revision;
      latest = std::move(found);
    }
    if (latest.empty()) return std::nullopt;
    std::vector<std::string> bad;
    Stored stored = read_stored(latest, log, bad);
    const auto read = stored.processes.find(nonce);
    if (read == stored.processes.end()) return std::nullopt;
    return std::move(read->second);
  }
};

}  // namespace mf::controller
