// Counts what calls cost on the wire, from the codecs and the frame's layout (docs/protocol.md, section 1).
// The runtime is not asked: what is measured must not count itself. TCP's own headers, handshakes and the
// frames that bind a service are not counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "mf/codec/tiered.hpp"
#include "mf/core/outcome.hpp"
#include "testbed/document.hpp"

namespace testbed {

class TrafficCount {
 public:
  /// Calls of one method that all ended with a result, so many to a message.
  template <class M>
  void add(std::span<const typename M::Request> requests,
           std::span<const mf::Outcome<typename M::Result>> outcomes, std::size_t per_message) {
    for (std::size_t first = 0; first < requests.size(); first += per_message) {
      const auto count = std::min(per_message, requests.size() - first);
      std::size_t results = 0;
      if constexpr (!std::is_void_v<typename M::Result>) {
        for (const auto& outcome : outcomes.subspan(first, count)) {
          results += mf::codec::encoded_size<M::kResultTier>(outcome.value());
        }
      }
      total_.calls += count;
      total_.messages += 1;
      total_.sent += frame(mf::codec::encoded_batch_size<M::kRequestTier>(&requests[first], count), count);
      total_.received += frame(results, count);
    }
  }

  template <class M>
  void add_one(const typename M::Request& request, const mf::Outcome<typename M::Result>& outcome) {
    add<M>(std::span(&request, 1), std::span(&outcome, 1), 1);
  }

  [[nodiscard]] const document::Traffic& total() const noexcept { return total_; }

 private:
  static std::uint64_t frame(std::size_t payload, std::size_t count) noexcept {
    const std::size_t header = count < 0xffff ? 16 : 24;
    return (header + payload + 7) / 8 * 8;
  }

  document::Traffic total_;
};

}  // namespace testbed
