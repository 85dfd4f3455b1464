// Asio completion tokens for async_ calls:
//
//   mf::Outcome<std::uint32_t> id = co_await documents.async_collection_id("books",
//   boost::asio::use_awaitable);
//
// The completion signature is void(mf::Outcome<T>): how a call ended is never an exception here. The handler
// is posted to its associated executor, never called from within the function that starts the call; without
// an executor it is called on the thread that read the reply.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <type_traits>
#include <utility>

#include "mf/core/async.hpp"

namespace mf {

template <class Token, class T>
  requires(!PlainCallback<Token, T>)
struct Completes<Token, T> {
  template <class Begin>
  static auto initiate(Token token, Begin begin) {
    return boost::asio::async_initiate<Token, void(Outcome<T>)>(
        [](auto handler, Begin begun) {
          auto executor = boost::asio::get_associated_executor(handler);
          if constexpr (std::is_same_v<decltype(executor), boost::asio::system_executor>) {
            begun(Callback<T>([handler = std::move(handler)](Outcome<T>&& outcome) mutable {
              std::move(handler)(std::move(outcome));
            }));
          } else {
            auto work = boost::asio::make_work_guard(executor);
            begun(Callback<T>([handler = std::move(handler), work = std::move(work),
                               executor](Outcome<T>&& outcome) mutable {
              boost::asio::post(executor,
                                [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
                                  std::move(handler)(std::move(outcome));
                                });
              work.reset();
            }));
          }
        },
        token, std::move(begin));
  }
};

}  // namespace mf
