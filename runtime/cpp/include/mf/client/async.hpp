// What may stand last in an async_ call. A plain callable `void(mf::Outcome<T>)` runs on the thread that read
// the reply; it must not throw. Any Asio completion token (a coroutine's, a future's, one bound to an
// executor) works once <mf/client/asio.hpp> is included; its handler runs on its executor.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::client {

template <class T>
using Callback = UniqueFunction<void(Outcome<T>&&)>;

/// Specialised by <mf/client/asio.hpp> for Asio's tokens.
template <class Token, class T>
struct Completes;

template <class Token, class T>
  requires(std::invocable<Token&, Outcome<T> &&> && !requires { typename Token::executor_type; })
struct Completes<Token, T> {
  /// Calls `begin(Callback<T>)` once.
  template <class Begin>
  static void initiate(Token token, Begin begin) {
    begin(Callback<T>(std::move(token)));
  }
};

}  // namespace mf::client
