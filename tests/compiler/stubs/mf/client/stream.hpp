#pragma once
// Only what generated code names of streams, declared: until the runtime has this header.

#include <optional>
#include <type_traits>
#include <utility>

#include "mf/client/target.hpp"
#include "mf/core/async.hpp"
#include "mf/core/options.hpp"
#include "mf/core/stream.hpp"

namespace mf {

namespace client {

template <class M>
auto handle_of() {
  if constexpr (M::kInfo.streams == Streams::results) {
    return std::type_identity<StreamReader<typename M::ResultElement>>();
  } else if constexpr (M::kInfo.streams == Streams::params) {
    return std::type_identity<ClientStream<typename M::ParamElement, typename M::Result>>();
  } else {
    return std::type_identity<DuplexStream<typename M::ParamElement, typename M::ResultElement>>();
  }
}
template <class M>
using HandleOf = typename decltype(handle_of<M>())::type;

template <class Handle>
Handle opened();

/// As the runtime does: the arguments are those of the request, in order and of their types.
template <class M, class... Args>
HandleOf<M> stream(const Target& /*target*/, const CallOptions& /*options*/, const Args&... args) {
  [[maybe_unused]] const typename M::Request request{args...};
  return opened<HandleOf<M>>();
}

template <class M, class Token, class... Args>
auto start_stream(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  return Completes<std::decay_t<Token>, HandleOf<M>>::initiate(
      std::forward<Token>(token),
      [&](Callback<HandleOf<M>> done) { done(Outcome<HandleOf<M>>(stream<M>(target, options, args...))); });
}

}  // namespace client
}  // namespace mf
