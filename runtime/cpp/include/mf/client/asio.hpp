// Asio completion tokens for async_ calls:
//
//   mf::Outcome<std::uint32_t> id = co_await documents.async_collection_id("books",
//   boost::asio::use_awaitable);
//
// The completion signature is void(mf::Outcome<T>): a call never ends with an exception here. The handler is
// posted to its associated executor, never called from within the initiating function; without an executor it
// is called where plain functions are. A cancellation of any type through its associated slot ends the call
// as CANCELLED, and the server is notified.
#pragma once

#include <boost/version.hpp>
#if BOOST_VERSION < 108100
#error \
    "mf/client/asio.hpp needs Boost 1.81 or newer, and an older one is found first: apt-get install libboost1.81-dev, and link mfidl::asio"
#endif
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "mf/core/async.hpp"

namespace mf {

namespace detail {

/// A token that stops when the slot emits a cancellation; an empty one if the slot is not connected.
template <class Slot>
std::stop_token stopped_by(Slot slot) {
  if (!slot.is_connected()) return {};
  std::stop_source source;
  slot.assign([source](boost::asio::cancellation_type type) mutable {
    if (type != boost::asio::cancellation_type::none) source.request_stop();
  });
  return source.get_token();
}

template <class T, class Begin>
void begin_with(Begin& begin, Callback<T> done, const std::stop_token& stop) {
  if constexpr (std::invocable<Begin&, Callback<T>, const std::stop_token&>) {
    begin(std::move(done), stop);
  } else {
    begin(std::move(done));
  }
}

}  // namespace detail

template <class Token, class T>
  requires(!PlainCallback<Token, T>)
struct Completes<Token, T> {
  template <class Begin>
  static auto initiate(Token token, Begin begin) {
    return boost::asio::async_initiate<Token, void(Outcome<T>)>(
        [](auto handler, Begin begun) {
          auto executor = boost::asio::get_associated_executor(handler);
          auto slot = boost::asio::get_associated_cancellation_slot(handler);
          const auto stop = detail::stopped_by(slot);
          if constexpr (std::is_same_v<decltype(executor), boost::asio::system_executor>) {
            detail::begin_with<T>(
                begun,
                [handler = std::move(handler)](Outcome<T>&& outcome) mutable {
                  std::move(handler)(std::move(outcome));
                },
                stop);
          } else {
            auto work = boost::asio::make_work_guard(executor);
            detail::begin_with<T>(
                begun,
                [handler = std::move(handler), work = std::move(work), executor,
                 slot](Outcome<T>&& outcome) mutable {
                  boost::asio::post(
                      executor, [handler = std::move(handler), outcome = std::move(outcome), slot]() mutable {
                        if (slot.is_connected()) slot.clear();
                        std::move(handler)(std::move(outcome));
                      });
                  work.reset();
                },
                stop);
          }
        },
        token, std::move(begin));
  }
};

}  // namespace mf
