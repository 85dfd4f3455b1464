#pragma once
// The keys and values of a store, which all stores except the one in memory share: stored.mfidl describes
// them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/controller/store.hpp"
#include "mf/core/log.hpp"

namespace mf::controller {

inline constexpr const char* kClientIdsKey = "client_ids";
inline constexpr const char* kEpochKey = "epoch";
inline constexpr const char* kClusterKey = "cluster";

/// The keys of a process's data begin with this one, and no others do.
[[nodiscard]] std::string process_key(const Uuid& nonce);
/// "KIND/NAME/AGENT", with the separators escaped.
[[nodiscard]] std::string key_text(const Key& key);
/// The process of a key; nothing for other keys.
[[nodiscard]] std::optional<Uuid> process_of(std::string_view key);
[[nodiscard]] std::string offer_key(const Uuid& nonce, const Key& key);

/// The changes that replace the `known` keys of a process by its current data.
[[nodiscard]] std::vector<stored::Change> process_changes(const Uuid& nonce, const stored::Process& process,
                                                          const std::vector<std::string>& known);
[[nodiscard]] std::vector<stored::Change> offer_changes(const Uuid& nonce, const std::vector<Offer>& put,
                                                        const std::vector<Key>& removed);

/// Decodes the values. Invalid ones are logged, left out, and added to `bad`.
[[nodiscard]] Stored read_stored(const std::map<std::string, Bytes, std::less<>>& values, const Log& log,
                                 std::vector<std::string>& bad);

}  // namespace mf::controller
