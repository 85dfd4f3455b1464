// TlsStream: bytes both ways, buffered bytes, resumption, and the message of each kind of failure at both
// ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "mf/core/error.hpp"
#include "mf/transport/socket.hpp"
#include "support/certificates.hpp"
#include "support/connect.hpp"
#include "support/peer.hpp"
#include "transport/tls_stream.hpp"

namespace mf::transport {
namespace {

using mftest::Authority;
using mftest::connect;
using mftest::CountedStream;
using mftest::eventually;
using mftest::soon;
using testing::AllOf;
using testing::HasSubstr;

constexpr auto kTimeout = std::chrono::seconds(20);

std::vector<std::byte> numbered(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3U);
  return bytes;
}

void write_all(Stream& stream, std::span<const std::byte> bytes) {
  const auto until = soon();
  while (!bytes.empty() || stream.has_output()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "the peer does not read";
    const IoSlice slice{bytes.data(), bytes.size()};
    const auto result = stream.write(std::span(&slice, 1));
    ASSERT_TRUE(result.state == IoState::ok || result.state == IoState::would_block);
    bytes = bytes.subspan(result.bytes);
    if (result.state == IoState::would_block) stream.wait_ready(false, true, std::chrono::milliseconds(20));
  }
}

std::vector<std::byte> read_exactly(Stream& stream, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t got = 0;
  const auto until = soon();
  while (got < size && std::chrono::steady_clock::now() < until) {
    const auto result = stream.read(std::span(bytes).subspan(got), Wait::coarsely);
    if (result.state != IoState::ok && result.state != IoState::would_block) break;
    got += result.bytes;
  }
  bytes.resize(got);
  return bytes;
}

/// Reads, with nothing expected, until the stream ends.
IoState read_to_end(Stream& stream) {
  std::array<std::byte, 64> window{};
  const auto until = soon();
  for (;;) {
    const auto result = stream.read(window, Wait::coarsely);
    if (result.state != IoState::would_block && result.state != IoState::ok) return result.state;
    if (std::chrono::steady_clock::now() >= until) return IoState::ok;
  }
}

/// A listener, and the state of one connection to it.
struct Meeting {
  explicit Meeting(TlsOptions server, const char* at = "tls://127.0.0.1:0", Log log = {})
      : context(make_tls_server(std::move(server), std::move(log))), listener(Address::parse(at), context) {}

  /// Both ends, of which the client's may be a failure.
  void meet(const std::shared_ptr<TlsContext>& with) {
    auto connecting =
        std::async(std::launch::async, [&] { return connect(listener.address(), kTimeout, {.tls = with}); });
    ASSERT_TRUE(eventually([&] { return listener.accept(server) == Listener::Accept::accepted; }));
    server->set_coarse_timeout(std::chrono::milliseconds(5));
    std::array<std::byte, 1> none{};
    do {
      (void)server->read(none, Wait::coarsely);
    } while (connecting.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
    client = connecting.get();
    if (client) client.value()->set_coarse_timeout(std::chrono::milliseconds(5));
  }
  void meet(const TlsOptions& options) { meet(make_tls_client(options)); }
  /// Both ends have completed the handshake: with TLS 1.3 the client's end is the first.
  void join(const std::shared_ptr<TlsContext>& with) {
    meet(with);
    ASSERT_TRUE(client.ok()) << client.failure().message;
    write_all(*client.value(), numbered(1));
    ASSERT_EQ(read_exactly(*server, 1).size(), 1U);
  }
  /// Whether both ends have completed the handshake, and have exchanged a byte each way, before which a
  /// ticket arrives.
  [[nodiscard]] bool try_exchange(const std::shared_ptr<TlsContext>& with) {
    meet(with);
    if (!client) return false;
    write_all(*client.value(), numbered(1));
    if (read_exactly(*server, 1).size() != 1) return false;
    write_all(*server, numbered(1));
    return read_exactly(*client.value(), 1).size() == 1;
  }
  [[nodiscard]] static bool resumed(const Stream& stream) {
    return dynamic_cast<const TlsStream&>(stream).resumed();
  }

  std::shared_ptr<TlsContext> context;
  Listener listener;
  std::unique_ptr<Stream> server;
  Outcome<std::unique_ptr<Stream>> client;
};

/// The message of each end when a connection fails because of the server's certificate.
void expect_refused(const TlsOptions& server, const TlsOptions& client, const std::string& client_says,
                    const std::string& server_says) {
  Meeting meeting(server);
  meeting.meet(client);
  ASSERT_FALSE(meeting.client.ok());
  const auto& failure = meeting.client.failure();
  EXPECT_EQ(failure.code, Code::unauthenticated);
  EXPECT_EQ(failure.execution, Execution::not_executed);
  EXPECT_EQ(failure.message, "connect " + meeting.listener.address().str() + ": " + client_says);
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  ASSERT_TRUE(meeting.server->failure());
  EXPECT_EQ(meeting.server->failure()->code, Code::unauthenticated);
  EXPECT_EQ(meeting.server->failure()->message, server_says);
}

class Tls : public testing::Test {
 protected:
  Authority authority;
};

TEST_F(Tls, CarriesBytesBothWays) {
  Meeting meeting(authority.issue());
  meeting.meet(authority.accepted());
  ASSERT_TRUE(meeting.client.ok()) << meeting.client.failure().message;
  EXPECT_EQ(meeting.client.value()->peer(), meeting.listener.address().str());
  EXPECT_THAT(meeting.server->peer(), testing::StartsWith("tls://127.0.0.1:"));
  const auto sent = numbered(5'000);
  write_all(*meeting.client.value(), sent);
  EXPECT_EQ(read_exactly(*meeting.server, sent.size()), sent);
  write_all(*meeting.server, sent);
  EXPECT_EQ(read_exactly(*meeting.client.value(), sent.size()), sent);
}

TEST_F(Tls, OneThreadReadsWhileAnotherWrites) {
  constexpr std::size_t kSize = std::size_t{4} << 20U;
  Meeting meeting(authority.issue());
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(authority.accepted())));
  const auto sent = numbered(kSize);
  std::vector<std::future<void>> writers;
  std::vector<std::future<std::vector<std::byte>>> readers;
  for (auto* stream : {meeting.client.value().get(), meeting.server.get()}) {
    writers.push_back(std::async(std::launch::async, [&sent, stream] { write_all(*stream, sent); }));
    readers.push_back(std::async(std::launch::async, [stream] { return read_exactly(*stream, kSize); }));
  }
  for (auto& writer : writers) writer.get();
  for (auto& reader : readers) EXPECT_TRUE(reader.get() == sent);
}

/// Two ends in this process over counting streams.
class TlsInside : public Tls {
 protected:
  TlsInside() {
    auto [left, right] = make_inproc_pair();
    left->set_coarse_timeout(std::chrono::milliseconds(5));
    right->set_coarse_timeout(std::chrono::milliseconds(5));
    client.emplace(std::make_unique<CountedStream>(std::move(left), counts),
                   make_tls_client(authority.accepted()), Address::parse("tls://localhost:1"));
    server.emplace(std::move(right), make_tls_server(authority.issue()), Address());
    auto shaking = std::async(std::launch::async, [&] { return mftest::shake_hands(*client); });
    std::array<std::byte, 1> none{};
    do {
      (void)server->read(none, Wait::coarsely);
    } while (shaking.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
    const auto failed = shaking.get();
    EXPECT_FALSE(failed) << failed->message;
  }

  std::shared_ptr<CountedStream::Counts> counts = std::make_shared<CountedStream::Counts>();
  std::optional<TlsStream> client;
  std::optional<TlsStream> server;
};

TEST_F(TlsInside, SmallSlicesAreJoinedIntoOneRecord) {
  const auto bytes = numbered(64 * 8);
  std::vector<IoSlice> slices;
  for (std::size_t i = 0; i < 64; ++i) slices.push_back({bytes.data() + i * 8, 8});
  counts->writes = 0;
  counts->bytes = 0;
  EXPECT_EQ(client->write(slices).bytes, bytes.size());
  EXPECT_EQ(counts->writes, 1);
  EXPECT_LT(counts->bytes, bytes.size() + 64);  // each record has 22 bytes of its own
  EXPECT_EQ(read_exactly(*server, bytes.size()), bytes);
}

TEST_F(TlsInside, SlicesOfAllSizesKeepTheirOrder) {
  const auto bytes = numbered(200'000);
  std::vector<IoSlice> slices;
  std::size_t at = 0;
  for (const std::size_t size : {3U, 20'000U, 1U, 16'384U, 40'000U, 5U, 100'000U}) {
    slices.push_back({bytes.data() + at, size});
    at += size;
  }
  const std::span<const std::byte> expected(bytes.data(), at);
  std::size_t taken = 0;
  auto reading = std::async(std::launch::async, [&] { return read_exactly(*server, at); });
  while (taken < at) {
    std::vector<IoSlice> rest;
    std::size_t skip = taken;
    for (const auto& slice : slices) {
      const auto skipped = std::min(skip, slice.size);
      skip -= skipped;
      if (skipped < slice.size) rest.push_back({slice.data + skipped, slice.size - skipped});
    }
    const auto result = client->write(rest);
    ASSERT_TRUE(result.state == IoState::ok || result.state == IoState::would_block);
    taken += result.bytes;
  }
  write_all(*client, {});
  EXPECT_TRUE(std::ranges::equal(reading.get(), expected));
}

TEST_F(TlsInside, WhatTheWindowHadNoRoomForIsInside) {
  const auto bytes = numbered(10'000);
  write_all(*client, bytes);
  std::vector<std::byte> window(1'000);
  ASSERT_EQ(server->read(window, Wait::coarsely).bytes, window.size());
  EXPECT_TRUE(server->has_input());
  server->wait_ready(true, false, kTimeout);  // returns at once
  std::vector<std::byte> rest(bytes.size());
  EXPECT_EQ(server->read(rest, Wait::no).bytes, bytes.size() - window.size());
  EXPECT_FALSE(server->has_input());
  EXPECT_EQ(server->read(rest, Wait::no).state, IoState::would_block);
}

TEST_F(TlsInside, WhatTheSocketDoesNotTakeWaitsInsideAndIsBounded) {
  const auto bytes = numbered(1'000'000);
  counts->refuse_writes = true;
  const IoSlice slice{bytes.data(), bytes.size()};
  const auto first = client->write(std::span(&slice, 1));
  EXPECT_EQ(first.state, IoState::would_block);
  EXPECT_GT(first.bytes, 0U);
  EXPECT_LE(first.bytes, 64U << 10U);
  EXPECT_TRUE(client->has_output());
  EXPECT_GE(client->unacknowledged(), first.bytes);
  const auto second = client->write(std::span(&slice, 1));
  EXPECT_EQ(second.state, IoState::would_block);
  EXPECT_EQ(second.bytes, 0U);
  counts->refuse_writes = false;
  EXPECT_EQ(client->write({}).state, IoState::ok);
  EXPECT_FALSE(client->has_output());
  const auto got = read_exactly(*server, first.bytes);
  EXPECT_TRUE(std::ranges::equal(got, std::span(bytes).first(first.bytes)));
}

TEST_F(TlsInside, AShutdownIsAnEndAndNoFailure) {
  client->shutdown();
  EXPECT_EQ(read_to_end(*server), IoState::closed);
  EXPECT_FALSE(server->failure());
  EXPECT_EQ(read_to_end(*client), IoState::closed);
  const auto byte = numbered(1);
  const IoSlice slice{byte.data(), 1};
  EXPECT_EQ(client->write(std::span(&slice, 1)).state, IoState::closed);
}

TEST_F(TlsInside, APeerThatClosesItsHalfWithoutAWordIsAnEndToo) {
  ASSERT_EQ(::shutdown(client->fd(), SHUT_WR), 0);
  EXPECT_EQ(read_to_end(*server), IoState::closed);
  EXPECT_FALSE(server->failure());
}

TEST_F(TlsInside, BytesThatAreNotEncryptedEndItWithAReason) {
  const auto clear = std::string("\x17\x03\x03\x00\x20", 5) + "there are not 32 encrypted bytes.";
  ASSERT_EQ(::send(client->fd(), clear.data(), clear.size(), 0), static_cast<ssize_t>(clear.size()));
  EXPECT_EQ(read_to_end(*server), IoState::failed);
  ASSERT_TRUE(server->failure());
  EXPECT_THAT(server->failure()->message, HasSubstr("TLS with the client has failed"));
}

/// A client that requests new keys again and again, and then sends "done" and waits for an answer.
std::string flood(int fd, int times) {
  const std::unique_ptr<SSL_CTX, SslDeleter> context(SSL_CTX_new(TLS_client_method()));
  const Ssl ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), fd);
  if (SSL_connect(ssl.get()) != 1) return "no handshake";
  for (int i = 0; i < times; ++i) {
    if (SSL_key_update(ssl.get(), SSL_KEY_UPDATE_REQUESTED) != 1 || SSL_do_handshake(ssl.get()) != 1)
      return "no update";
  }
  std::array<char, 8> answer{};
  if (SSL_write(ssl.get(), "done", 4) != 4 || SSL_read(ssl.get(), answer.data(), 8) <= 0) return "no answer";
  return answer.data();
}

TEST_F(Tls, APeerThatReadsNothingCannotFillTheMemoryWithAnswersToItself) {
  constexpr std::size_t kMost = (128U << 10U) + (16U << 10U);
  auto [left, right] = make_inproc_pair();
  left->set_coarse_timeout(std::chrono::milliseconds(5));
  const int room = 1 << 20;  // for all bounded buffers, since the peer reads nothing meanwhile
  ASSERT_EQ(::setsockopt(left->fd(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
  const auto counts = std::make_shared<CountedStream::Counts>();
  TlsStream server(std::make_unique<CountedStream>(std::move(left), counts),
                   make_tls_server(authority.issue()), Address());
  auto peer = std::async(std::launch::async, [fd = right->fd()] { return flood(fd, 12'000); });
  std::array<std::byte, 64> window{};
  EXPECT_TRUE(eventually([&] {
    (void)server.read(window, Wait::coarsely);
    if (counts->bytes > 500) counts->refuse_writes = true;  // the handshake is written
    return server.unacknowledged() >= 128U << 10U;
  }));
  EXPECT_EQ(server.read(window, Wait::coarsely).state, IoState::would_block);
  EXPECT_LE(server.unacknowledged(), kMost);
  EXPECT_FALSE(server.has_input());
  counts->refuse_writes = false;
  write_all(server, {});
  EXPECT_TRUE(server.has_input());
  const auto done = read_exactly(server, 4);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(done.data()), done.size()), "done");
  const std::string answer = "well";
  write_all(server, std::as_bytes(std::span(answer)));
  EXPECT_EQ(peer.get(), answer);
}

TEST_F(Tls, TheLastSessionOfAnAddressIsResumed) {
  Meeting meeting(authority.issue());
  const auto client = make_tls_client(authority.accepted());
  for (const bool resumed : {false, true, true}) {
    ASSERT_NO_FATAL_FAILURE(meeting.join(client));
    EXPECT_EQ(Meeting::resumed(*meeting.client.value()), resumed);
    EXPECT_EQ(Meeting::resumed(*meeting.server), resumed);
    write_all(*meeting.server, numbered(1));  // its session ticket precedes it
    ASSERT_EQ(read_exactly(*meeting.client.value(), 1).size(), 1U);
    meeting.client = Outcome<std::unique_ptr<Stream>>();
    meeting.server.reset();
  }
  meeting.meet(make_tls_client(authority.accepted()));
  ASSERT_TRUE(meeting.client.ok());
  EXPECT_FALSE(Meeting::resumed(*meeting.client.value()));
}

TEST_F(Tls, SessionsOfClientsWithCertificatesAreResumed) {
  auto options = authority.issue();
  options.ca = authority.file();
  Meeting meeting(options);
  const auto client = make_tls_client(options);
  for (const bool resumed : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(meeting.join(client));
    write_all(*meeting.server, numbered(1));
    ASSERT_EQ(read_exactly(*meeting.client.value(), 1).size(), 1U);
    EXPECT_EQ(Meeting::resumed(*meeting.server), resumed);
    meeting.client = Outcome<std::unique_ptr<Stream>>();
    meeting.server.reset();
  }
}

TEST_F(Tls, AnExpiredCertificateIsRefused) {
  expect_refused(authority.issue({.valid_from = -7200, .valid_until = -3600}), authority.accepted(),
                 "the certificate of the server has expired",
                 "the client does not accept the certificate of this server: it has expired");
}

TEST_F(Tls, ACertificateThatIsNotValidYetIsRefused) {
  expect_refused(authority.issue({.valid_from = 3600, .valid_until = 7200}), authority.accepted(),
                 "the certificate of the server is not valid yet",
                 "the client does not accept the certificate of this server: it is not for the name that was "
                 "asked for, not valid yet, or damaged");
}

TEST_F(Tls, ACertificateOfAnotherNameIsRefused) {
  expect_refused(authority.issue({.names = "DNS:elsewhere.example,IP:127.0.0.2"}), authority.accepted(),
                 "the certificate of the server is not for '127.0.0.1'",
                 "the client does not accept the certificate of this server: it is not for the name that was "
                 "asked for, not valid yet, or damaged");
}

TEST_F(Tls, ACertificateWithoutNamesIsForNobody) {
  auto client = authority.accepted();
  client.server_name = "MF test 1";  // the common name of the first issued certificate
  expect_refused(authority.issue({.names = ""}), client,
                 "the certificate of the server is not for 'MF test 1'",
                 "the client does not accept the certificate of this server: it is not for the name that was "
                 "asked for, not valid yet, or damaged");
}

TEST_F(Tls, ACertificateOfAnotherAuthorityIsRefused) {
  Authority other("another authority");
  expect_refused(authority.issue(), other.accepted(),
                 "the certificate of the server is of an authority that is not in '" + other.file() + "'",
                 "the client does not accept the certificate of this server: its authority is none of those "
                 "that the client accepts");
}

TEST_F(Tls, WithoutOptionsTheAuthoritiesAreThoseOfTheSystem) {
  expect_refused(authority.issue(), {},
                 "the certificate of the server is of an authority that is not among those of the system",
                 "the client does not accept the certificate of this server: its authority is none of those "
                 "that the client accepts");
}

TEST_F(Tls, TheNameMayBeAnotherOneThanThatOfTheAddress) {
  Meeting meeting(authority.issue({.names = "DNS:books.example"}));
  auto client = authority.accepted();
  client.server_name = "books.example";
  meeting.meet(client);
  EXPECT_TRUE(meeting.client.ok()) << meeting.client.failure().message;
}

TEST_F(Tls, AMissingCertificateOfAClientIsToldAtItsFirstRead) {
  auto options = authority.issue();
  options.ca = authority.file();
  Meeting meeting(options);
  meeting.meet(authority.accepted());
  ASSERT_TRUE(meeting.client.ok());  // TLS 1.3 does not wait for the server
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  EXPECT_EQ(meeting.server->failure()->message,
            "the client shows no certificate, and this server demands one");
  EXPECT_EQ(read_to_end(*meeting.client.value()), IoState::failed);
  EXPECT_EQ(meeting.client.value()->failure()->code, Code::unauthenticated);
  EXPECT_EQ(meeting.client.value()->failure()->message,
            "the server demands a certificate of this client: set certificate and key of ClientOptions::tls");
}

TEST_F(Tls, ACertificateOfAClientThatIsNotAcceptedIsToldToBothEnds) {
  Authority other("another authority");
  auto options = authority.issue();
  options.ca = authority.file();
  auto client = other.issue();
  client.ca = authority.file();
  Meeting meeting(options);
  meeting.meet(client);
  ASSERT_TRUE(meeting.client.ok());
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  EXPECT_EQ(meeting.server->failure()->message,
            "the certificate of the client is of an authority that is not in '" + authority.file() + "'");
  EXPECT_EQ(read_to_end(*meeting.client.value()), IoState::failed);
  EXPECT_EQ(
      meeting.client.value()->failure()->message,
      "the server does not accept the certificate of this client: its authority is none of those that the "
      "server accepts");
}

TEST_F(Tls, AServerThatClosesWithinTheHandshakeIsUnavailable) {
  const Listener listener(Address::parse("tcp://127.0.0.1:0"));
  auto address = listener.address();
  address.scheme = "tls";
  auto connecting = std::async(std::launch::async, [&] {
    return connect(address, kTimeout, {.tls = make_tls_client(authority.accepted())});
  });
  std::unique_ptr<Stream> server;
  ASSERT_TRUE(eventually(
      [&] { return const_cast<Listener&>(listener).accept(server) == Listener::Accept::accepted; }));
  std::array<std::byte, 4096> hello{};
  ASSERT_EQ(server->read(hello, Wait::coarsely).state, IoState::ok);
  server->shutdown();
  const auto client = connecting.get();
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.failure().code, Code::unavailable);
  EXPECT_THAT(client.failure().message,
              HasSubstr("the server has closed the connection within the TLS handshake"));
}

TEST_F(Tls, AServerThatDoesNotAnswerIsWaitedForNoLongerThanTheTimeout) {
  const Listener silent(Address::parse("tcp://127.0.0.1:0"));
  auto address = silent.address();
  address.scheme = "tls";
  const auto client =
      connect(address, std::chrono::milliseconds(50), {.tls = make_tls_client(authority.accepted())});
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.failure().code, Code::unavailable);
  EXPECT_EQ(client.failure().message,
            "connect " + address.str() + ": the server did not complete the TLS handshake in time");
}

/// The message of a server's end when the peer sends this first, and the bytes that the peer gets.
std::string answer_to(Authority& authority, const std::string& said, std::string& reason) {
  auto [left, right] = make_inproc_pair();
  TlsStream server(std::move(left), make_tls_server(authority.issue()), Address());
  const IoSlice slice{reinterpret_cast<const std::byte*>(said.data()), said.size()};
  EXPECT_EQ(right->write(std::span(&slice, 1)).bytes, said.size());
  EXPECT_EQ(read_to_end(server), IoState::failed);
  EXPECT_EQ(server.failure()->code, Code::protocol_error);
  reason = server.failure()->message;
  std::array<char, 64> answer{};
  const auto got = right->read(std::as_writable_bytes(std::span(answer)), Wait::coarsely);
  return {answer.data(), got.bytes};
}

TEST_F(Tls, APeerThatSpeaksNoTlsIsToldSoInTheTermsOfTls) {
  std::string reason;
  const std::string alert("\x15\x03\x03\x00\x02\x02\x0a", 7);
  EXPECT_EQ(answer_to(authority, "GET / HTTP/1.1\r\n\r\n", reason), alert);
  EXPECT_EQ(reason, "the client speaks no TLS: its first bytes look like HTTP");
  EXPECT_EQ(answer_to(authority, "hello?", reason), alert);
  EXPECT_EQ(reason, "the client speaks no TLS");
  mf::Buffer hello;
  std::array<IoSlice, 4> slices;
  protocol::Session session(protocol::Role::client, {});
  session.send_hello();
  for (const auto& slice : std::span(slices).first(session.fill_output(slices)))
    hello.append(std::span(slice.data, slice.size));
  EXPECT_EQ(answer_to(authority, {reinterpret_cast<const char*>(hello.data()), hello.size()}, reason), alert);
  EXPECT_EQ(reason, "the client speaks no TLS, but MF: its address must begin with tls://");
}

template <class Make>
std::string refusal(Make make) {
  try {
    (void)make();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.message();
  }
  return "";
}

TEST_F(Tls, FilesThatCannotBeUsedAreNamed) {
  const auto good = authority.issue();
  const auto other = authority.issue();
  const auto text = authority.path("text");
  std::ofstream(text) << "this is no certificate\n";
  EXPECT_EQ(refusal([&] { return make_tls_client({.ca = "/nowhere/ca.pem"}); }),
            "ClientOptions::tls.ca: cannot read '/nowhere/ca.pem': no such file or directory");
  EXPECT_THAT(refusal([&] { return make_tls_client({.ca = text}); }),
              HasSubstr("ClientOptions::tls.ca: '" + text + "' holds no certificate in PEM format"));
  EXPECT_EQ(refusal([&] { return make_tls_server({.certificate = "/nowhere/c", .key = good.key}); }),
            "ServerOptions::tls.certificate: cannot read '/nowhere/c': no such file or directory");
  EXPECT_THAT(refusal([&] { return make_tls_server({.certificate = text, .key = good.key}); }),
              HasSubstr("ServerOptions::tls.certificate: '" + text + "' holds no certificate in PEM format"));
  EXPECT_THAT(refusal([&] { return make_tls_server({.certificate = good.certificate, .key = text}); }),
              HasSubstr("ServerOptions::tls.key: '" + text + "' holds no private key in PEM format"));
  EXPECT_EQ(refusal([&] { return make_tls_server({.certificate = good.certificate, .key = "/nowhere/k"}); }),
            "ServerOptions::tls.key: cannot read '/nowhere/k': no such file or directory");
  EXPECT_EQ(refusal([&] { return make_tls_server({.certificate = good.certificate, .key = other.key}); }),
            "ServerOptions::tls.key: '" + other.key + "' does not belong to the certificate '" +
                good.certificate + "'");
  EXPECT_THAT(refusal([&] { return make_tls_client({.certificate = good.certificate}); }),
              AllOf(HasSubstr("ClientOptions::tls.key"), HasSubstr("belong together")));
  EXPECT_THAT(refusal([&] { return make_tls_server({.ca = authority.file()}); }),
              HasSubstr("a server at tls:// needs a certificate and its key"));
}

TEST_F(Tls, AKeyWithAPassphraseIsRefusedAndNobodyIsAskedForIt) {
  const auto good = authority.issue();
  std::FILE* const from = std::fopen(good.key.c_str(), "r");
  EVP_PKEY* const key = PEM_read_PrivateKey(from, nullptr, nullptr, nullptr);
  (void)std::fclose(from);
  const auto path = authority.path("locked.key");
  std::FILE* const to = std::fopen(path.c_str(), "w");
  const std::string pass = "secret";
  ASSERT_EQ(
      PEM_write_PrivateKey(to, key, EVP_aes_128_cbc(), reinterpret_cast<const unsigned char*>(pass.data()),
                           static_cast<int>(pass.size()), nullptr, nullptr),
      1);
  (void)std::fclose(to);
  EVP_PKEY_free(key);
  EXPECT_THAT(refusal([&] { return make_tls_server({.certificate = good.certificate, .key = path}); }),
              HasSubstr("'" + path + "' holds no private key in PEM format without a passphrase"));
}

// Files that are replaced

class Lines final : public LogSink {
 public:
  void write(Level /*level*/, std::string_view line) noexcept override { all.append(line).append("\n"); }
  std::string all;
};

/// As a tool that renews certificates replaces them.
void replace(const TlsOptions& options, const TlsOptions& by) {
  std::filesystem::rename(by.certificate, options.certificate);
  std::filesystem::rename(by.key, options.key);
}

TimePoint at_next_look() {
  return now() + TlsContext::kLookEvery;
}

TEST(TlsFiles, AreReadAgainWithoutAFailedConnection) {
  mftest::Authority authority;
  const auto options = authority.issue();
  Meeting meeting(options);
  const auto client = make_tls_client(authority.accepted());
  for (int round = 0; round < 20; ++round) {
    ASSERT_NO_FATAL_FAILURE(meeting.join(client));
    EXPECT_FALSE(Meeting::resumed(*meeting.server)) << "tickets of the certificate before are not taken";
    replace(options, authority.issue());
    meeting.context->look(at_next_look() + std::chrono::minutes(round));
    write_all(*meeting.client.value(), numbered(1));  // the connection made before goes on
    ASSERT_EQ(read_exactly(*meeting.server, 1).size(), 1U);
  }
  replace(options, authority.issue({.names = "DNS:elsewhere"}));
  meeting.context->look(at_next_look() + std::chrono::hours(1));
  meeting.meet(client);
  ASSERT_FALSE(meeting.client.ok());
  EXPECT_EQ(meeting.client.failure().code, Code::unauthenticated);
}

TEST(TlsFiles, AreLookedAtEvery30Seconds) {
  mftest::Authority authority;
  const auto options = authority.issue();
  const auto lines = std::make_shared<Lines>();
  const auto context = make_tls_server(options, Log(lines));
  const auto start = now();
  replace(options, authority.issue());
  context->look(start + TlsContext::kLookEvery - std::chrono::seconds(1));
  EXPECT_EQ(lines->all, "");
  context->look(start + TlsContext::kLookEvery + std::chrono::seconds(1));
  EXPECT_THAT(lines->all, testing::StartsWith("tls_files_read "));
  lines->all.clear();
  context->look(start + 3 * TlsContext::kLookEvery);  // nothing was replaced since
  EXPECT_EQ(lines->all, "");
}

TEST(TlsFiles, ThatCannotBeUsedChangeNothingAndAreNamed) {
  mftest::Authority authority;
  const auto options = authority.issue();
  const auto lines = std::make_shared<Lines>();
  Meeting meeting(options, "tls://127.0.0.1:0", Log(lines));
  const auto other = authority.issue();
  std::filesystem::rename(other.certificate, options.certificate);  // the key is still the one before
  meeting.context->look(at_next_look());
  EXPECT_THAT(lines->all,
              testing::AllOf(testing::StartsWith("tls_files_kept "), testing::HasSubstr(options.key)));
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(authority.accepted())));
  lines->all.clear();
  std::filesystem::rename(other.key, options.key);
  meeting.context->look(at_next_look() + std::chrono::minutes(1));
  EXPECT_THAT(lines->all, testing::StartsWith("tls_files_read "));
}

TEST(TlsFiles, OfAuthoritiesThatAreReplacedEndTheTrustInOldOnes) {
  mftest::Authority before;
  mftest::Authority after;
  auto options = before.issue();
  options.ca = before.path("clients.pem");
  std::filesystem::copy_file(before.file(), options.ca);
  Meeting meeting(options);
  auto shown = before.issue();
  shown.ca = before.file();
  const auto client = make_tls_client(shown);
  ASSERT_NO_FATAL_FAILURE(meeting.join(client));
  std::filesystem::copy_file(after.file(), options.ca, std::filesystem::copy_options::overwrite_existing);
  meeting.context->look(at_next_look());
  meeting.meet(client);
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  ASSERT_TRUE(meeting.server->failure());
  EXPECT_EQ(meeting.server->failure()->code, Code::unauthenticated);
}

TEST(TlsFiles, OfAClientThatAreReplacedEndTheSessionsThatItWouldResume) {
  mftest::Authority before;
  mftest::Authority after;
  Meeting meeting(before.issue());
  const auto ca = before.path("servers.pem");
  std::filesystem::copy_file(before.file(), ca);
  const auto client = make_tls_client({.ca = ca});
  ASSERT_NO_FATAL_FAILURE(meeting.join(client));
  std::filesystem::copy_file(after.file(), ca, std::filesystem::copy_options::overwrite_existing);
  client->look(at_next_look());
  meeting.meet(client);
  ASSERT_FALSE(meeting.client.ok());
  EXPECT_EQ(meeting.client.failure().code, Code::unauthenticated);
}

/// A server that demands certificates, and the state of a connection to it by a client that shows `shown`.
struct Demanding {
  explicit Demanding(mftest::Authority& authority, std::string ca = {}) : options(authority.issue()) {
    options.ca = ca.empty() ? authority.file() : std::move(ca);
    shown = authority.issue();
    shown.ca = authority.file();
  }
  TlsOptions options;
  TlsOptions shown;
};

TEST(TlsFiles, ThatRevokeACertificateRefuseItAndNoOther) {
  mftest::Authority authority;
  Demanding demanding(authority);
  auto other = authority.issue();
  other.ca = authority.file();
  demanding.options.crl = authority.revoke({demanding.shown});
  Meeting meeting(demanding.options);
  meeting.meet(make_tls_client(demanding.shown));
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  ASSERT_TRUE(meeting.server->failure());
  EXPECT_EQ(meeting.server->failure()->code, Code::unauthenticated);
  EXPECT_THAT(meeting.server->failure()->message, testing::HasSubstr("revoked"));
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(other)));
  EXPECT_TRUE(meeting.server->trusted());
}

TEST(TlsFiles, ThatRevokeACertificateEndTheTrustInItsConnections) {
  mftest::Authority authority;
  Demanding demanding(authority);
  demanding.options.crl = authority.revoke({});
  Meeting meeting(demanding.options);
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(demanding.shown)));
  EXPECT_TRUE(read_again(*meeting.context, Reads::all));
  EXPECT_TRUE(meeting.server->trusted()) << "its certificate is on no list";
  (void)authority.revoke({demanding.shown});
  EXPECT_TRUE(meeting.server->trusted()) << "the list is not read yet";
  EXPECT_TRUE(read_again(*meeting.context, Reads::replaced));
  EXPECT_FALSE(meeting.server->trusted());
}

TEST(TlsFiles, OfAServerThatIsRevokedEndTheTrustOfItsClients) {
  mftest::Authority authority;
  const auto options = authority.issue();
  Meeting meeting(options);
  const auto client = make_tls_client({.ca = authority.file(), .crl = authority.revoke({})});
  ASSERT_NO_FATAL_FAILURE(meeting.join(client));
  EXPECT_TRUE(meeting.client.value()->trusted());
  (void)authority.revoke({options});
  EXPECT_TRUE(read_again(*client, Reads::replaced));
  EXPECT_FALSE(meeting.client.value()->trusted());
}

TEST(TlsFiles, OfAuthoritiesThatAreReplacedEndTheTrustInConnections) {
  mftest::Authority before;
  mftest::Authority after;
  const auto ca = before.path("clients.pem");
  std::filesystem::copy_file(before.file(), ca);
  const Demanding demanding(before, ca);
  Meeting meeting(demanding.options);
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(demanding.shown)));
  std::filesystem::copy_file(after.file(), ca, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(read_again(*meeting.context, Reads::replaced));
  EXPECT_FALSE(meeting.server->trusted());
}

TEST(TlsFiles, OfARenewedCertificateLeaveTheTrustInItsClients) {
  mftest::Authority authority;
  const Demanding demanding(authority);
  Meeting meeting(demanding.options);
  ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(demanding.shown)));
  replace(demanding.options, authority.issue());
  EXPECT_TRUE(read_again(*meeting.context, Reads::replaced));
  EXPECT_TRUE(meeting.server->trusted());
}

// Certificates that expire

/// Makes use of a certificate that is valid for the given seconds, and returns when it has expired. A machine
/// that is too slow to use it in time (false) gets another one, which is valid for longer.
template <class Use>
void expire_after(Use use) {
  using std::chrono::system_clock;
  for (long seconds = 2;; seconds *= 2) {
    const auto over = system_clock::now() + std::chrono::seconds(seconds + 1);
    if (!use(seconds)) continue;
    std::this_thread::sleep_until(over);
    return;
  }
}

TEST(TlsTime, OfAClientThatIsOverEndsItsConnectionsAndResumesNone) {
  mftest::Authority authority;
  const Demanding demanding(authority);
  Meeting meeting(demanding.options);
  std::shared_ptr<TlsContext> client;
  expire_after([&](long seconds) {
    auto shown = authority.issue({.valid_until = seconds});
    shown.ca = authority.file();
    client = make_tls_client(shown);
    return meeting.try_exchange(client) && meeting.server->trusted();
  });
  EXPECT_FALSE(meeting.server->trusted());
  EXPECT_TRUE(meeting.client.value()->trusted()) << "the server's has not expired";
  meeting.meet(client);
  EXPECT_EQ(read_to_end(*meeting.server), IoState::failed);
  ASSERT_TRUE(meeting.server->failure());
  EXPECT_EQ(meeting.server->failure()->code, Code::unauthenticated);
  EXPECT_EQ(meeting.server->failure()->message, "the certificate of the client has expired");
}

TEST(TlsTime, OfAClientThatIsOverLetsItsNextCertificateIn) {
  mftest::Authority authority;
  const Demanding demanding(authority);
  Meeting meeting(demanding.options);
  std::shared_ptr<TlsContext> client;
  TlsOptions shown;
  expire_after([&](long seconds) {
    shown = authority.issue({.valid_until = seconds});
    shown.ca = authority.file();
    client = make_tls_client(shown);
    return meeting.try_exchange(client);
  });
  replace(shown, authority.issue());
  EXPECT_TRUE(read_again(*client, Reads::replaced));
  EXPECT_TRUE(meeting.try_exchange(client));
  EXPECT_TRUE(meeting.server->trusted());
}

TEST(TlsTime, OfAServerThatIsOverEndsItsConnectionsAndIsVerifiedAgain) {
  mftest::Authority authority;
  const auto client = make_tls_client(authority.accepted());
  std::unique_ptr<Meeting> meeting;
  expire_after([&](long seconds) {
    meeting = std::make_unique<Meeting>(authority.issue({.valid_until = seconds}));
    return meeting->try_exchange(client) && meeting->client.value()->trusted();
  });
  EXPECT_FALSE(meeting->client.value()->trusted());
  EXPECT_TRUE(meeting->server->trusted()) << "no certificate is asked for";
  meeting->meet(client);
  ASSERT_FALSE(meeting->client.ok());
  EXPECT_EQ(meeting->client.failure().code, Code::unauthenticated);
  EXPECT_THAT(meeting->client.failure().message, HasSubstr("the certificate of the server has expired"));
}

TEST(TlsNames, GiveTheIdentitiesOfTheVectors) {
  mftest::Authority authority;
  const Demanding demanding(authority);
  Meeting meeting(demanding.options);
  std::ifstream vectors(MF_SOURCE_DIR "/tests/vectors/certificates/identities.txt");
  int cases = 0;
  for (std::string line; std::getline(vectors, line);) {
    const auto arrow = line.find(" -> ");
    if (line.starts_with('#') || arrow == std::string::npos) continue;
    auto shown = authority.issue({.names = line.substr(0, arrow)});
    shown.ca = authority.file();
    ASSERT_NO_FATAL_FAILURE(meeting.join(make_tls_client(shown)));
    EXPECT_EQ(meeting.server->identity().str(), line.substr(arrow + 4)) << line;
    ++cases;
  }
  EXPECT_GE(cases, 15);
}

TEST(TlsFiles, OfListsThatCannotBeUsedAreRefused) {
  mftest::Authority authority;
  auto options = authority.issue();
  options.crl = authority.file();
  const auto refusal = [&] {
    try {
      (void)make_tls_server(options);
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal(), testing::HasSubstr("need the authorities"));
  options.ca = authority.file();
  EXPECT_THAT(refusal(), testing::HasSubstr("holds no list of revoked certificates"));
  options.crl = authority.path("none");
  EXPECT_THAT(refusal(), testing::HasSubstr("ServerOptions::tls.crl: cannot read"));
}

}  // namespace
}  // namespace mf::transport
