// The other end of a connection, simulated by a test: a session that is driven frame by frame, or raw bytes.
#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mf/protocol/session.hpp"
#include "mf/transport/stream.hpp"
#include "support/wait.hpp"

namespace mftest {

class Peer {
 public:
  struct Seen {
    mf::protocol::EventType type{};
    mf::protocol::Header header;
    std::uint32_t count = 0;
    mf::Code code = mf::Code::ok;
    std::vector<std::byte> payload;
    std::string text;
  };

  Peer(mf::protocol::Role role, std::unique_ptr<mf::transport::Stream> stream,
       mf::protocol::SessionOptions options = {})
      : session(role, std::move(options)), stream_(std::move(stream)) {
    stream_->set_coarse_timeout(std::chrono::milliseconds(20));
  }

  /// The next event; throws when none arrives for a long time, or at the end of the stream.
  Seen next() {
    flush();
    const auto until = soon();
    for (;;) {
      mf::protocol::Event event;
      if (session.next(event)) {
        return {event.type,
                event.header,
                event.count,
                event.code,
                {event.payload.begin(), event.payload.end()},
                std::string(event.text)};
      }
      const auto result = stream_->read(session.receive_window(), mf::transport::Wait::coarsely);
      if (result.state == mf::transport::IoState::ok) {
        session.commit(result.bytes);
      } else if (result.state != mf::transport::IoState::would_block) {
        throw std::runtime_error("the connection ended");
      }
      if (std::chrono::steady_clock::now() >= until) throw std::runtime_error("nothing came");
    }
  }
  /// Waits for the peer to close; returns the earlier events.
  std::vector<Seen> until_end() {
    std::vector<Seen> all;
    for (;;) {
      try {
        all.push_back(next());
      } catch (const std::runtime_error& error) {
        if (std::string(error.what()) != "the connection ended") throw;
        return all;
      }
    }
  }
  Seen next(mf::protocol::EventType type) {
    for (;;) {
      auto seen = next();
      if (seen.type == type) return seen;
    }
  }

  void flush() {
    std::array<mf::IoSlice, 64> slices;
    const auto until = soon();
    while (session.output_bytes() > 0 && std::chrono::steady_clock::now() < until) {
      const auto n = session.fill_output(slices);
      const auto result = stream_->write(std::span(slices).first(n));
      if (result.state == mf::transport::IoState::ok) {
        session.consumed(result.bytes);
      } else if (result.state == mf::transport::IoState::would_block) {
        stream_->wait_ready(false, true, std::chrono::milliseconds(20));
      } else {
        return;
      }
    }
  }
  void send_raw(std::span<const std::byte> bytes) {
    const auto until = soon();
    while (!bytes.empty() && std::chrono::steady_clock::now() < until) {
      const mf::IoSlice slice{bytes.data(), bytes.size()};
      const auto result = stream_->write(std::span(&slice, 1));
      if (result.state == mf::transport::IoState::ok) {
        bytes = bytes.subspan(result.bytes);
      } else if (result.state == mf::transport::IoState::would_block) {
        stream_->wait_ready(false, true, std::chrono::milliseconds(20));
      } else {
        return;
      }
    }
  }
  void close() { stream_->shutdown(); }
  [[nodiscard]] mf::transport::Stream& stream() { return *stream_; }

  /// As a server: answers HELLO, and initial BINDs; returns the first other event.
  void greet() {
    (void)next(mf::protocol::EventType::hello);  // the session has queued its own HELLO as the answer
    flush();
  }
  void accept_bind() {
    const auto bind = next(mf::protocol::EventType::bind);
    session.send_bound(bind.header.route);
    flush();
  }
  /// Repeats the request's payload as its result.
  void echo(const Seen& request) {
    session.send_reply({.route = request.header.route,
                        .id = request.header.id,
                        .count = request.count,
                        .status = 0,
                        .encoding = request.header.encoding()},
                       std::span<const std::byte>(request.payload));
  }

  mf::protocol::Session session;

 private:
  std::unique_ptr<mf::transport::Stream> stream_;
};

/// A stream that counts its operations.
class CountedStream final : public mf::transport::Stream {
 public:
  struct Counts {
    std::atomic<int> reads{0};
    std::atomic<int> writes{0};
    std::atomic<int> refused{0};
    std::atomic<std::size_t> bytes{0};        // written
    std::atomic<bool> refuse_writes{false};   // as if the socket were full
    std::atomic<std::size_t> most{SIZE_MAX};  // bytes a write takes
    std::atomic<int> takes{INT_MAX};          // writes, and then the socket is full
    std::atomic<bool> patient{false};         // no read ends by itself before a test has given up
  };

  CountedStream(std::unique_ptr<mf::transport::Stream> inner, std::shared_ptr<Counts> counts)
      : inner_(std::move(inner)), counts_(std::move(counts)) {}

  mf::transport::IoResult read(std::span<std::byte> into, mf::transport::Wait wait) noexcept override {
    ++counts_->reads;
    if (counts_->patient) inner_->set_coarse_timeout(std::chrono::microseconds(kLong) * 2);
    return inner_->read(into, wait);
  }
  mf::transport::IoResult write(std::span<const mf::IoSlice> slices) noexcept override {
    ++counts_->writes;
    if (counts_->refuse_writes || counts_->takes <= 0) {
      ++counts_->refused;
      return {.state = mf::transport::IoState::would_block};
    }
    --counts_->takes;
    const auto most = counts_->most.load();
    const mf::IoSlice first{slices[0].data, std::min(slices[0].size, most)};
    const auto result = inner_->write(most == SIZE_MAX ? slices : std::span(&first, 1));
    counts_->bytes += result.bytes;
    return result;
  }
  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override {
    if (counts_->refuse_writes || counts_->takes <= 0) {
      std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(5)));
      return;
    }
    inner_->wait_ready(read, write, timeout);
  }
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override {
    inner_->set_coarse_timeout(timeout);
  }
  [[nodiscard]] std::size_t unacknowledged() const noexcept override { return inner_->unacknowledged(); }
  [[nodiscard]] bool allow_interrupts() noexcept override { return inner_->allow_interrupts(); }
  void interrupt() noexcept override { inner_->interrupt(); }
  void shutdown() noexcept override { inner_->shutdown(); }
  void close() noexcept override { inner_->close(); }
  [[nodiscard]] int fd() const noexcept override { return inner_->fd(); }
  [[nodiscard]] const std::string& peer() const noexcept override { return inner_->peer(); }

 private:
  std::unique_ptr<mf::transport::Stream> inner_;
  std::shared_ptr<Counts> counts_;
};

inline mf::Buffer bytes_of(std::uint32_t number) {
  mf::Buffer buffer;
  std::memcpy(buffer.append(sizeof number), &number, sizeof number);
  return buffer;
}
inline std::uint32_t number_in(std::span<const std::byte> bytes) {
  std::uint32_t number = 0;
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

}  // namespace mftest
