// The failure of a message as a whole, after which nothing is known of its items. A bulk throws it, and a
// message of a batch gives it to each of its items.
#pragma once

#include <optional>

#include "mf/core/outcome.hpp"
#include "mf/link/method.hpp"
#include "mf/link/reply.hpp"

namespace mf::client::detail {

/// None: the reply has an outcome for each item.
[[nodiscard]] std::optional<Failure> whole_failure(const link::Method& method, const link::Reply& reply);

}  // namespace mf::client::detail
