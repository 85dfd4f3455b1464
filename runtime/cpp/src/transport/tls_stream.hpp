// A stream of TLS over another stream.
//
// OpenSSL's object is used under a lock, and never accesses the socket: it reads encrypted bytes from `in_`
// and writes them to `out_`. So no thread blocks while holding the lock: a reader waits in the socket's own
// read, without it. Bytes that the socket does not accept at once stay in `out_`, which is bounded.
//
// A client's handshake is made by shake_hands(), a server's by its first reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "mf/core/buffer.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/transport/stream.hpp"
#include "transport/tls_context.hpp"

namespace mf::transport {

class TlsStream final : public Stream {
 public:
  /// `address`: the one that a client connects to.
  TlsStream(std::unique_ptr<Stream> socket, std::shared_ptr<TlsContext> context, Address address);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  /// Continues the handshake without waiting. Nothing: call it again when the socket is readable, or writable
  /// while there is output. Otherwise the handshake has ended, with its failure if it failed: UNAVAILABLE or
  /// UNAUTHENTICATED, in words.
  [[nodiscard]] std::optional<std::optional<Failure>> shake_hands();
  /// Whether the handshake has resumed an earlier session.
  [[nodiscard]] bool resumed() const;

  IoResult read(std::span<std::byte> into, Wait wait) noexcept override;
  IoResult write(std::span<const IoSlice> slices) noexcept override;
  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override;
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override {
    socket_->set_coarse_timeout(timeout);
  }
  [[nodiscard]] bool has_input() const noexcept override {
    return has_input_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_output() const noexcept override;
  [[nodiscard]] std::optional<Failure> failure() const override;
  [[nodiscard]] bool trusted() override;
  [[nodiscard]] std::size_t unacknowledged() const noexcept override;
  [[nodiscard]] bool allow_interrupts() noexcept override { return socket_->allow_interrupts(); }
  void interrupt() noexcept override { socket_->interrupt(); }
  void shutdown() noexcept override;
  void close() noexcept override { socket_->close(); }
  [[nodiscard]] int fd() const noexcept override { return socket_->fd(); }
  [[nodiscard]] const std::string& peer() const noexcept override { return socket_->peer(); }
  [[nodiscard]] Identity identity() const override;

  void on_new_session(SslSession session, const ssl_ctx_st* of) {
    context_->keep(address_, std::move(session), of);
  }

 private:
  struct Wire;  // OpenSSL's view of in_ and out_

  // All functions require the lock.
  IoResult decrypt(std::span<std::byte> into) noexcept;
  bool encrypt(std::span<const std::byte> plain) noexcept;
  IoResult send() noexcept;
  bool check_first_bytes() noexcept;
  /// Whether it is fatal; then it is stored, and the stream has ended.
  bool end_if_fatal(int error) noexcept;
  void end(Failure why) noexcept;

  // Without the lock; `in_` is empty.
  IoResult receive(Wait wait) noexcept;
  [[nodiscard]] std::optional<std::optional<Failure>> advance_handshake();

  const std::unique_ptr<Stream> socket_;
  const std::shared_ptr<TlsContext> context_;
  const Address address_;
  Buffer received_;  // used only by the reader, which passes a part on as in_

  mutable std::mutex mutex_;
  std::span<const std::byte> in_;
  Buffer out_;
  std::size_t sent_ = 0;  // of out_
  Buffer joined_;         // small slices that are combined into one record
  bool started_ = false;  // bytes of the peer have arrived
  bool stalled_ = false;  // nothing is decrypted until out_ has room
  bool shaken_ = false;   // the handshake is complete
  bool in_ended_ = false;
  bool closing_ = false;
  bool ended_ = false;  // no more OpenSSL functions may be called
  std::optional<Failure> failure_;
  std::atomic<bool> has_input_{false};
  Ssl ssl_;
  std::uint64_t trusted_by_;  // the generation of the context that has accepted the peer
};

}  // namespace mf::transport
