// Waits for asynchronous answers of a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>

#include "mf/controller/store.hpp"

namespace mf::controller::testing_promises {

inline constexpr std::chrono::seconds kPatience{30};

/// The answer that `ask` passes to its argument; throws if it never comes.
template <class T, class Ask>
std::optional<T> answer(Ask&& ask) {
  const auto promise = std::make_shared<std::promise<std::optional<T>>>();
  auto future = promise->get_future();
  ask([promise](std::optional<T> given) { promise->set_value(given); });
  if (future.wait_for(kPatience) != std::future_status::ready)
    throw std::runtime_error("the store has not answered");
  return future.get();
}

inline std::optional<std::uint64_t> lead(Store& store, const Key& key, std::uint64_t at_least) {
  return answer<std::uint64_t>([&](auto done) { store.take_lead(key, at_least, std::move(done)); });
}
inline std::optional<std::uint32_t> client_ids(Store& store, std::uint32_t count) {
  return answer<std::uint32_t>([&](auto done) { store.take_client_ids(count, std::move(done)); });
}

}  // namespace mf::controller::testing_promises
