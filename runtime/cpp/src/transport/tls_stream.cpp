#include "transport/tls_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/protocol/foreign.hpp"
#include "transport/schemes.hpp"
#include "transport/tls_identity.hpp"
#include "transport/tls_words.hpp"

namespace mf::transport {
namespace {

constexpr std::size_t kRecord = std::size_t{16} << 10U;  // the largest record
constexpr std::size_t kReceived = 2 * kRecord;
// write() encrypts no more than this at a time.
constexpr std::size_t kEncryptedAtOnce = 4 * kRecord;
// The limit for out_, including answers to the peer's key updates.
constexpr std::size_t kMostOutput = 8 * kRecord;

// A fatal alert, "unexpected message", in answer to bytes that are not TLS: a client that uses MF without TLS
// recognises the server's protocol by it.
constexpr std::array<unsigned char, 7> kAlert{0x15, 3, 3, 0, 2, 2, 10};

bool wants_more(int error) noexcept {
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

}  // namespace

std::unique_ptr<Stream> accept_tls(std::unique_ptr<Stream> socket, const std::shared_ptr<TlsContext>& tls) {
  return std::make_unique<TlsStream>(std::move(socket), tls, Address());
}

struct TlsStream::Wire {
  static TlsStream& of(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
    auto& self = of(bio);
    BIO_clear_retry_flags(bio);
    *got = std::min(size, self.in_.size());
    if (*got == 0) {
      if (!self.in_ended_) BIO_set_retry_read(bio);
      return 0;
    }
    std::memcpy(into, self.in_.data(), *got);
    self.in_ = self.in_.subspan(*got);
    return 1;
  }

  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put) {
    auto& self = of(bio);
    BIO_clear_retry_flags(bio);
    *put = 0;
    if (self.out_.size() - self.sent_ >= kMostOutput) {
      BIO_set_retry_write(bio);
      return 0;
    }
    try {
      self.out_.append(std::as_bytes(std::span(bytes, size)));
    } catch (const std::bad_alloc&) {
      return 0;
    }
    *put = size;
    return 1;
  }

  static long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
    if (command == BIO_CTRL_EOF) return of(bio).in_ended_ && of(bio).in_.empty() ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  static BIO* make(TlsStream& stream) {
    static BIO_METHOD* const kMethod = [] {
      auto* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "mf");
      if (method == nullptr) return method;
      BIO_meth_set_create(method, create);
      BIO_meth_set_read_ex(method, read);
      BIO_meth_set_write_ex(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    BIO* const bio = kMethod == nullptr ? nullptr : BIO_new(kMethod);
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, &stream);
    return bio;
  }
};

TlsStream::TlsStream(std::unique_ptr<Stream> socket, std::shared_ptr<TlsContext> context, Address address)
    : socket_(std::move(socket)),
      context_(std::move(context)),
      address_(std::move(address)),
      ssl_(context_->connection(address_)),
      trusted_by_(TlsContext::generation_of(*ssl_)) {
  received_.resize(kReceived);
  auto* const wire = Wire::make(*this);
  SSL_set_bio(ssl_.get(), wire, wire);
  SSL_set_app_data(ssl_.get(), this);
}

// OpenSSL drops the session of a connection that was not closed properly.
TlsStream::~TlsStream() {
  shutdown();
}

std::optional<std::optional<Failure>> TlsStream::advance_handshake() {
  const std::scoped_lock lock(mutex_);
  ERR_clear_error();
  const int done = check_first_bytes() ? SSL_do_handshake(ssl_.get()) : -1;
  if (!ended_ && done != 1) (void)end_if_fatal(SSL_get_error(ssl_.get(), done));
  (void)send();
  if (ended_) return failure_ ? failure_ : not_executed(Code::unavailable, "the handshake of TLS has failed");
  if (done != 1) return std::nullopt;
  has_input_ = !in_.empty();
  return std::optional<Failure>();
}

std::optional<std::optional<Failure>> TlsStream::shake_hands() {
  for (;;) {
    if (auto over = advance_handshake()) return over;
    if (receive(Wait::no).state == IoState::would_block) return std::nullopt;
  }
}

Identity TlsStream::identity() const {
  const std::scoped_lock lock(mutex_);
  return certified(*ssl_);
}

bool TlsStream::resumed() const {
  const std::scoped_lock lock(mutex_);
  return SSL_session_reused(ssl_.get()) == 1;
}

bool TlsStream::trusted() {
  const std::scoped_lock lock(mutex_);
  return context_->trusts(*ssl_, trusted_by_);
}

// At most one read of the socket: a peer whose records contain no data must not occupy this thread.
IoResult TlsStream::read(std::span<std::byte> into, Wait wait) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    const auto result = decrypt(into);
    if (result.state != IoState::would_block || stalled_ || has_input_) return result;
  }
  const auto received = receive(wait);
  if (received.state == IoState::would_block) return received;
  const std::scoped_lock lock(mutex_);
  return decrypt(into);
}

IoResult TlsStream::receive(Wait wait) noexcept {
  const auto received = socket_->read(received_.span(), wait);
  const std::scoped_lock lock(mutex_);
  if (received.state == IoState::ok) {
    in_ = received_.span().first(received.bytes);
  } else if (received.state != IoState::would_block) {
    in_ended_ = true;
  }
  return received;
}

// Decrypts until the window is full or no data are left.
IoResult TlsStream::decrypt(std::span<std::byte> into) noexcept {
  has_input_ = false;
  if (ended_ || !check_first_bytes()) return {.state = failure_ ? IoState::failed : IoState::closed};
  std::size_t got = 0;
  int error = SSL_ERROR_NONE;
  while (got < into.size() && error == SSL_ERROR_NONE) {
    std::size_t some = 0;
    shaken_ = shaken_ || SSL_is_init_finished(ssl_.get()) != 0;
    ERR_clear_error();
    const int done = SSL_read_ex(ssl_.get(), into.data() + got, into.size() - got, &some);
    got += some;
    if (done != 1) error = SSL_get_error(ssl_.get(), done);
  }
  const bool over = error != SSL_ERROR_NONE && end_if_fatal(error);
  if (error == SSL_ERROR_NONE) has_input_ = SSL_pending(ssl_.get()) > 0 || !in_.empty();
  stalled_ = error == SSL_ERROR_WANT_WRITE;
  (void)send();  // output of TLS itself: handshakes, tickets, alerts
  if (got > 0) return {.bytes = got};
  if (over) return {.state = failure_ ? IoState::failed : IoState::closed};
  return {.state = IoState::would_block};
}

IoResult TlsStream::write(std::span<const IoSlice> slices) noexcept {
  const std::scoped_lock lock(mutex_);
  if (ended_ || closing_) return {.state = IoState::closed};
  if (const auto sent = send(); sent.state != IoState::ok) return sent;
  std::size_t taken = 0;
  try {
    joined_.reserve(kRecord);
    joined_.clear();
    const auto encrypt_joined = [&] {
      const bool good = joined_.empty() || encrypt(joined_.span());
      if (good) taken += joined_.size();
      joined_.clear();
      return good;
    };
    for (const auto& slice : slices) {
      std::span<const std::byte> left(slice.data, slice.size);
      while (!left.empty() && taken + joined_.size() < kEncryptedAtOnce) {
        const bool whole = joined_.empty() && left.size() >= kRecord;
        const auto part = left.first(std::min(left.size(), kRecord - joined_.size()));
        left = left.subspan(part.size());
        if (whole) {
          if (!encrypt(part)) break;
          taken += part.size();
        } else {
          joined_.append(part);
          if (joined_.size() == kRecord && !encrypt_joined()) break;
        }
      }
      if (ended_ || !left.empty()) break;
    }
    if (!ended_) (void)encrypt_joined();
  } catch (const std::bad_alloc&) {
    end({});
  }
  auto result = send();
  result.bytes = taken;
  if (ended_) result.state = IoState::failed;
  return result;
}

bool TlsStream::encrypt(std::span<const std::byte> plain) noexcept {
  std::size_t written = 0;
  ERR_clear_error();
  const int done = SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written);
  if (done == 1) return true;
  // There is room in out_, and only a handshake waits for the peer: nothing is written before it is complete.
  if (!end_if_fatal(SSL_get_error(ssl_.get(), done))) end({});
  return false;
}

IoResult TlsStream::send() noexcept {
  while (sent_ < out_.size()) {
    const IoSlice rest{out_.data() + sent_, out_.size() - sent_};
    const auto result = socket_->write(std::span(&rest, 1));
    if (result.state != IoState::ok) return result;
    sent_ += result.bytes;
  }
  out_.clear();
  sent_ = 0;
  if (std::exchange(stalled_, false)) has_input_ = true;
  return {};
}

bool TlsStream::check_first_bytes() noexcept {
  if (started_ || in_.empty()) return true;
  started_ = true;
  if (protocol::begins_tls(in_.front())) return true;
  try {
    if (context_->side() == TlsContext::Side::server) out_.append(std::as_bytes(std::span(kAlert)));
    end(speaks_no_tls(in_, context_->side()));
  } catch (const std::bad_alloc&) {
    end({});
  }
  (void)send();
  return false;
}

bool TlsStream::end_if_fatal(int error) noexcept {
  if (wants_more(error)) return false;
  ended_ = true;
  if (error == SSL_ERROR_ZERO_RETURN || (in_ended_ && shaken_)) return true;  // ended by the peer
  try {
    end(why_tls_failed(ssl_.get(), *context_, address_));
  } catch (const std::bad_alloc&) {  // then it has ended without a reason
  }
  return true;
}

void TlsStream::end(Failure why) noexcept {
  ended_ = true;
  if (!failure_ && !why.message.empty()) failure_ = std::move(why);
}

void TlsStream::wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept {
  if (!(read && has_input())) socket_->wait_ready(read, write, timeout);
}

bool TlsStream::has_output() const noexcept {
  const std::scoped_lock lock(mutex_);
  return sent_ < out_.size();
}

std::optional<Failure> TlsStream::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

std::size_t TlsStream::unacknowledged() const noexcept {
  const std::scoped_lock lock(mutex_);
  return socket_->unacknowledged() + out_.size() - sent_;
}

void TlsStream::shutdown() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(closing_, true)) {
      ERR_clear_error();
      if (!ended_ && SSL_is_init_finished(ssl_.get()) != 0) (void)SSL_shutdown(ssl_.get());
      (void)send();
    }
  }
  socket_->shutdown();
}

}  // namespace mf::transport
