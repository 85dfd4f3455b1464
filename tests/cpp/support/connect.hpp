// What the runtime does without a waiting thread, for tests that wait: connecting, greeting, binding.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mf/link/client_link.hpp"
#include "mf/transport/connector.hpp"
#include "support/wait.hpp"

namespace mftest {

inline mf::Outcome<std::unique_ptr<mf::transport::Stream>> connect(
    const mf::Address& address, std::chrono::milliseconds timeout = kLong,
    const mf::transport::Connecting& with = {}) {
  const auto reactor = std::make_shared<mf::transport::Reactor>();
  std::promise<mf::Outcome<std::unique_ptr<mf::transport::Stream>>> result;
  std::shared_ptr<mf::transport::Connector> connector;
  reactor->post([&] {
    connector = mf::transport::connect(address, mf::now() + timeout, reactor, with,
                                       [&](auto&& outcome) { result.set_value(std::move(outcome)); });
  });
  auto connected = result.get_future().get();
  reactor->stop();
  return connected;
}

inline mf::Outcome<std::shared_ptr<mf::link::ClientLink>> open(
    std::unique_ptr<mf::transport::Stream> stream, mf::protocol::SessionOptions options,
    std::shared_ptr<mf::transport::Reactor> reactor, mf::TimePoint deadline,
    mf::link::Liveness liveness = {}) {
  std::promise<mf::Outcome<std::shared_ptr<mf::link::ClientLink>>> result;
  const auto link = mf::link::ClientLink::open(
      std::move(stream), std::move(options), std::move(reactor), deadline, std::move(liveness),
      [&](auto&& outcome) { result.set_value(std::forward<decltype(outcome)>(outcome)); });
  return result.get_future().get();
}

inline mf::Outcome<std::shared_ptr<mf::link::Binding>> bind(mf::link::ClientLink& link,
                                                            const mf::ServiceInfo& service,
                                                            const std::string& agent,
                                                            mf::TimePoint deadline) {
  std::promise<mf::Outcome<std::shared_ptr<mf::link::Binding>>> result;
  link.bind(service, agent, deadline, {},
            [&](auto&& outcome) { result.set_value(std::forward<decltype(outcome)>(outcome)); });
  return result.get_future().get();
}

/// The handshake of a transport::TlsStream.
template <class Tls>
std::optional<mf::Failure> shake_hands(Tls& stream) {
  for (;;) {
    if (auto over = stream.shake_hands()) return *std::move(over);
    stream.wait_ready(true, stream.has_output(), std::chrono::milliseconds(20));
  }
}

}  // namespace mftest
