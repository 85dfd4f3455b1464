#pragma once
// What a store holds as keys and values, which all stores but that in memory share: stored.mfidl says what
// they are.

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

/// What belongs to a process has keys that begin with its own, and nothing else has.
[[nodiscard]] std::string process_key(const Uuid& nonce);
/// "KIND/NAME/AGENT", with what divides them escaped.
[[nodiscard]] std::string key_text(const Key& key);
/// Whose key this is; nothing: no process's.
[[nodiscard]] std::optional<Uuid> process_of(std::string_view key);
[[nodiscard]] std::string offer_key(const Uuid& nonce, const Key& key);

/// What puts a process in the place of those of `known` keys.
[[nodiscard]] std::vector<stored::Change> process_changes(const Uuid& nonce, const stored::Process& process,
                                                          const std::vector<std::string>& known);
[[nodiscard]] std::vector<stored::Change> offer_changes(const Uuid& nonce, const std::vector<Offer>& put,
                                                        const std::vector<Key>& removed);

/// What the values mean. Those that mean nothing are named in the log, left out, and added to `bad`.
[[nodiscard]] Stored read_stored(const std::map<std::string, Bytes, std::less<>>& values, const Log& log,
                                 std::vector<std::string>& bad);

}  // namespace mf::controller
