#include "controller/stored_values.hpp"

#include <optional>
#include <set>
#include <string_view>

#include "mf/codec/value.hpp"
#include "mf/controller.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/hex.hpp"

namespace mf::controller {
namespace {

constexpr std::string_view kProcessKeys = "process/";

std::string escaped(std::string_view part) {
  std::string text;
  for (const char c : part) {
    if (c == '/')
      text += "%2F";
    else if (c == '%')
      text += "%25";
    else
      text += c;
  }
  return text;
}

/// Decodes the value as a T and calls `use`; returns the reason if it is invalid.
template <class T, class Use>
std::string read_as(const Bytes& value, Use&& use) {
  auto read = from_bytes<T>(value);
  if (!read) return read.error().message();
  use(std::move(*read));
  return {};
}

/// A process precedes its offers in the order of the keys.
std::string read_of_process(std::string_view key, const Bytes& value, Stored& stored) {
  const std::optional<Uuid> nonce = process_of(key);
  if (!nonce) return "its key names no process";
  if (key == process_key(*nonce))
    return read_as<stored::Process>(value, [&](stored::Process&& process) {
      stored.processes.insert_or_assign(*nonce, std::move(process));
    });
  const auto process = stored.processes.find(*nonce);
  if (process == stored.processes.end()) return "its process is not there";
  return read_as<Offer>(value, [&](Offer&& offer) { process->second.offers.push_back(std::move(offer)); });
}

std::string read_value(std::string_view key, const Bytes& value, Stored& stored) {
  if (key.starts_with(kProcessKeys)) return read_of_process(key, value, stored);
  if (key == kEpochKey)
    return read_as<stored::Epoch>(value, [&](const stored::Epoch& epoch) { stored.epoch = epoch.epoch; });
  if (key == kClientIdsKey)
    return read_as<stored::ClientIds>(
        value, [&](const stored::ClientIds& ids) { stored.next_client_id = ids.next; });
  if (key == kClusterKey)
    return read_as<stored::Cluster>(value,
                                    [&](const stored::Cluster& cluster) { stored.cluster = cluster.id; });
  return {};  // of a newer release: it stays in the store
}

}  // namespace

std::string key_text(const Key& key) {
  return std::to_string(static_cast<unsigned>(key.kind)) + "/" + escaped(key.name) + "/" + escaped(key.agent);
}

std::optional<Uuid> process_of(std::string_view key) {
  if (!key.starts_with(kProcessKeys)) return std::nullopt;
  Uuid nonce;
  key = key.substr(kProcessKeys.size(), 2 * nonce.bytes.size());
  if (key.size() != 2 * nonce.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::size_t digit = kHexDigits.find(key[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    nonce.bytes[i / 2] = static_cast<std::uint8_t>(static_cast<unsigned>(nonce.bytes[i / 2]) << 4 |
                                                   static_cast<unsigned>(digit));
  }
  return nonce;
}

std::string process_key(const Uuid& nonce) {
  return std::string(kProcessKeys) + to_hex(nonce.bytes);
}

std::string offer_key(const Uuid& nonce, const Key& key) {
  return process_key(nonce) + "/" + key_text(key);
}

std::vector<stored::Change> process_changes(const Uuid& nonce, const stored::Process& process,
                                            const std::vector<std::string>& known) {
  std::set<std::string, std::less<>> gone(known.begin(), known.end());
  std::vector<stored::Change> changes;
  const stored::Process head{
      .secret_hash = process.secret_hash, .name = process.name, .offers = {}, .identity = process.identity};
  changes.push_back({.key = process_key(nonce), .value = to_bytes(head)});
  for (stored::Change& change : offer_changes(nonce, process.offers, {}))
    changes.push_back(std::move(change));
  for (const stored::Change& change : changes) gone.erase(change.key);
  for (const std::string& key : gone) changes.push_back({.key = key});
  return changes;
}

std::vector<stored::Change> offer_changes(const Uuid& nonce, const std::vector<Offer>& put,
                                          const std::vector<Key>& removed) {
  // Each key once, with its final value.
  std::map<std::string, std::optional<Bytes>> last;
  for (const Key& key : removed) last[offer_key(nonce, key)] = std::nullopt;
  for (const Offer& offer : put) last[offer_key(nonce, offer.key)] = to_bytes(offer);
  std::vector<stored::Change> changes;
  for (auto& [key, value] : last) changes.push_back({.key = key, .value = std::move(value)});
  return changes;
}

Stored read_stored(const std::map<std::string, Bytes, std::less<>>& values, const Log& log,
                   std::vector<std::string>& bad) {
  Stored stored;
  for (const auto& [key, value] : values) {
    const std::string problem = read_value(key, value, stored);
    if (problem.empty()) continue;
    bad.push_back(key);
    log.write(Level::error, "store_damaged", {{"key", key}, {"what", problem}, {"bytes", value.size()}});
  }
  return stored;
}

}  // namespace mf::controller
