// Asio completion tokens for async_ calls:
//
//   mf::Outcome<std::uint32_t> id = co_await documents.async_collection_id("books",
//   boost::asio::use_awaitable);
//
// The completion signature is void(mf::Outcome<T>): how a call ended is never an exception here. The handler
// runs on its associated executor; without one, on the thread that read the reply.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <utility>

#include "mf/client/async.hpp"

namespace mf::client {

template <class Token, class T>
  requires(!std::invocable<Token&, Outcome<T> &&> || requires { typename Token::executor_type; })
struct Completes<Token, T> {
  template <class Begin>
  static auto initiate(Token token, Begin begin) {
    return boost::asio::async_initiate<Token, void(Outcome<T>)>(
        [](auto handler, Begin begun) {
          auto executor = boost::asio::get_associated_executor(handler);
          auto work = boost::asio::make_work_guard(executor);
          begun(Callback<T>(
              [handler = std::move(handler), work = std::move(work), executor](Outcome<T>&& outcome) mutable {
                boost::asio::dispatch(executor,
                                      [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
                                        std::move(handler)(std::move(outcome));
                                      });
                work.reset();
              }));
        },
        token, std::move(begin));
  }
};

}  // namespace mf::client
