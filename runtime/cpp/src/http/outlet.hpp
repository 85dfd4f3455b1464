// The stream under a WebSocket, with one queue for all that is written: frames of many messages go out with
// one system call, where Beast would make one for each. What Beast writes itself, pongs and the end, joins
// the queue. One thread.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::http {

template <class Stream>
class Outlet {
 public:
  using executor_type = typename Stream::executor_type;
  using Failed = boost::system::error_code;
  using Written = UniqueFunction<void(Failed)>;

  explicit Outlet(Stream&& stream) : queue_(std::make_shared<Queue>(std::move(stream))) {}

  [[nodiscard]] Stream& next_layer() noexcept { return queue_->stream; }
  [[nodiscard]] const Stream& next_layer() const noexcept { return queue_->stream; }
  [[nodiscard]] executor_type get_executor() noexcept { return queue_->stream.get_executor(); }

  /// Appends whole frames.
  void write(std::string_view frames) {
    queue_->waiting.append(frames);
    queue_->go_on();
  }
  /// Calls `done` later, once nothing waits to be written, or a write has failed.
  void when_written(Written done) { queue_->when_written(std::move(done)); }
  /// When the write in progress has begun; nothing: there is none. It has all that waited then. What comes
  /// meanwhile is bounded: a writer waits until its last bytes are written, and a reader of pings stops.
  [[nodiscard]] std::optional<TimePoint> writes_since() const noexcept {
    return queue_->writes ? std::optional(queue_->since) : std::nullopt;
  }

  // ---- as Beast uses it

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& into, Handler&& handler) {
    queue_->stream.async_read_some(into, std::forward<Handler>(handler));
  }
  /// Takes all, and is done at once unless much waits already: of a peer that sends pings and reads nothing.
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& from, Handler&& handler) {
    const auto bytes = boost::asio::buffer_size(from);
    const auto before = queue_->waiting.size();
    queue_->waiting.resize(before + bytes);
    boost::asio::buffer_copy(boost::asio::buffer(queue_->waiting) + before, from);
    queue_->go_on();
    auto done = [bytes, handler = std::forward<Handler>(handler)](Failed failed) mutable {
      handler(failed, failed ? 0 : bytes);
    };
    if (queue_->waiting.size() > kMostWaiting) return queue_->when_written(std::move(done));
    boost::asio::post(get_executor(),
                      [failed = queue_->failed, done = std::move(done)]() mutable { done(failed); });
  }
  template <class Handler>
  void async_end(boost::beast::role_type role, Handler&& handler) {
    queue_->when_written(
        [queue = queue_, role, handler = std::forward<Handler>(handler)](Failed failed) mutable {
          if (failed) return handler(failed);
          using boost::beast::websocket::async_teardown;
          async_teardown(role, queue->stream, std::move(handler));
        });
  }

 private:
  static constexpr std::size_t kMostWaiting = std::size_t{64} << 10U;

  /// It lives until its last write has ended, perhaps longer than the WebSocket.
  struct Queue : std::enable_shared_from_this<Queue> {
    explicit Queue(Stream&& of) : stream(std::move(of)) {}

    void go_on() {
      if (writes || waiting.empty() || failed) return;
      writes = true;
      since = mf::now();
      leaving.swap(waiting);
      auto done = written.lock();
      if (!done) written = done = std::make_shared<std::vector<Written>>();
      boost::asio::async_write(stream, boost::asio::buffer(leaving),
                               [self = this->shared_from_this(), done](Failed why, std::size_t) {
                                 self->writes = false;
                                 self->leaving.clear();
                                 self->failed = why;
                                 self->go_on();
                                 if (self->writes) return;
                                 for (auto& each : std::exchange(*done, {})) each(why);
                               });
    }
    void when_written(Written done) {
      if (writes) return written.lock()->push_back(std::move(done));
      boost::asio::post(stream.get_executor(),
                        [why = failed, done = std::move(done)]() mutable { done(why); });
    }

    Stream stream;
    std::string waiting;
    std::string leaving;  // is being written
    bool writes = false;
    TimePoint since{};  // when the write in progress has begun
    Failed failed;
    /// Belongs to the write in progress: an end of the program's part drops both, and what they hold.
    std::weak_ptr<std::vector<Written>> written;
  };

  std::shared_ptr<Queue> queue_;
};

/// How Beast ends the stream.
template <class Stream, class Handler>
void async_teardown(boost::beast::role_type role, Outlet<Stream>& outlet, Handler&& handler) {
  outlet.async_end(role, std::forward<Handler>(handler));
}

}  // namespace mf::http
