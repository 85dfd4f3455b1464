// Where a server accepts connections.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mf/transport/reactor.hpp"
#include "mf/transport/socket.hpp"
#include "server/core.hpp"

namespace mf {
namespace server {

/// The REFUSE that ends a connection before its first frame.
[[nodiscard]] std::vector<std::byte> refusal(const std::string& reason);

}  // namespace server

// Accepts on the reactor's thread. Without free descriptors, it first checks for ended connections that were
// not noticed yet; if that frees none, it turns away pending clients, and pauses the listener for 10 ms to 1
// s.
class Server::Core::Acceptor final : public transport::Watched,
                                     public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(Core& core, const Address& listen, std::shared_ptr<transport::TlsContext> tls)
      : core_(core), listener_(listen, std::move(tls)) {
    listener_.set_farewell(server::refusal("the server has no file descriptors left; use another instance"));
  }

  void open() {
    core_.reactors_.front()->watch(listener_.fd(), shared_from_this(), false);
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::read);
  }
  /// On the reactor's thread. Turns away clients that wait to be accepted.
  void close() {
    core_.reactors_.front()->forget(listener_.fd());
    listener_.close();
  }
  [[nodiscard]] const Address& address() const { return listener_.address(); }
  [[nodiscard]] std::uint64_t turned_away() const noexcept { return listener_.turned_away(); }

  void on_ready(transport::Ready /*ready*/) override {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
      std::unique_ptr<transport::Stream> stream;
      const auto result = listener_.accept(stream);
      if (result == transport::Listener::Accept::none) break;
      if (result == transport::Listener::Accept::exhausted) return looked_ ? rest() : look();
      looked_ = false;
      if (pause_ != kShortestPause) {
        core_.log().write(Level::info, "accepts_again", {{"address", address().str()}});
        pause_ = kShortestPause;
      }
      core_.accept(std::move(stream));
    }
  }

 private:
  static constexpr int kAcceptsPerTurn = 64;
  static constexpr std::chrono::milliseconds kShortestPause{10};

  // Ends of connections may be queued behind the listener's event on their threads. A thread that is busy for
  // long is not awaited.
  void look() {
    looked_ = true;
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::none);
    core_.reactors_.front()->at(mf::now() + kShortestPause, resume());
    core_.after_events(resume());
  }

  void rest() {
    looked_ = false;
    listener_.turn_away();
    if (pause_ == kShortestPause)  // once, until a connection is accepted again
      core_.log().write(Level::error, "out_of_descriptors", {{"address", address().str()}});
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::none);
    core_.reactors_.front()->at(mf::now() + pause_, resume());
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, std::chrono::seconds(1));
  }

  /// Returns a function that accepts again, unless the listener pauses for another reason by then.
  std::function<void()> resume() {
    return [weak = weak_from_this(), stop = stops_] {
      const auto self = weak.lock();
      if (!self || self->listener_.fd() < 0 || self->stops_ != stop) return;
      ++self->stops_;
      self->core_.reactors_.front()->arm(self->listener_.fd(), transport::Interest::read);
    };
  }

  Core& core_;
  transport::Listener listener_;
  std::chrono::milliseconds pause_ = kShortestPause;
  bool looked_ = false;      // since a connection was accepted, or turned away
  std::uint64_t stops_ = 0;  // how often accepting was resumed
};

}  // namespace mf
