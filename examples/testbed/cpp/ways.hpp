// The three ways to make many calls of one method, behind one function: what the testbed compares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>

#include "mf/core/outcome.hpp"
#include "testbed/document.hpp"

namespace testbed {

/// What `@batch` says when a schema says nothing.
inline constexpr std::size_t kMessageBatch = 128;
/// Calls in one message of an application-level batch: our choice, far below what fits in 2^24 bytes.
inline constexpr std::size_t kApplicationBatch = 2'048;

constexpr std::size_t calls_per_message(document::Way way) noexcept {
  switch (way) {
    case document::Way::message_batch:
      return kMessageBatch;
    case document::Way::application_batch:
      return kApplicationBatch;
    default:
      return 1;
  }
}

/// The outcomes of all requests, in order; every one is a result, since the first failure is thrown. `call`
/// makes one call, `batch` a message-level batch of all, `bulk` one message of some.
template <class Result, class Request, class Call, class Batch, class Bulk>
mf::Outcomes<Result> call_all(document::Way way, std::span<const Request> requests, Call call, Batch batch,
                              Bulk bulk) {
  mf::Outcomes<Result> outcomes;
  if (way == document::Way::message_batch) {
    outcomes = batch(requests).results();
  } else if (way == document::Way::application_batch) {
    for (std::size_t first = 0; first < requests.size(); first += kApplicationBatch) {
      auto part = bulk(requests.subspan(first, std::min(kApplicationBatch, requests.size() - first)));
      outcomes.insert(outcomes.end(), std::move_iterator(part.begin()), std::move_iterator(part.end()));
    }
  } else {
    outcomes.reserve(requests.size());
    for (const auto& request : requests) {
      if constexpr (std::is_void_v<Result>) {
        call(request);
        outcomes.emplace_back();
      } else {
        outcomes.emplace_back(call(request));
      }
    }
  }
  for (const auto& outcome : outcomes) (void)outcome.value();
  return outcomes;
}

}  // namespace testbed
