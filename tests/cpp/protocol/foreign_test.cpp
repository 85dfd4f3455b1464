// Peers that use another protocol are recognised by their first bytes.
#include "mf/protocol/foreign.hpp"

#include <gtest/gtest.h>

#include "mf/protocol/session.hpp"

namespace mf::protocol {
namespace {

std::string_view look(std::string_view text) {
  return looks_like(std::as_bytes(std::span(text)));
}

TEST(Foreign, IsToldByTheFirstBytes) {
  EXPECT_EQ(look("GET / HTTP/1.1\r\n"), "HTTP");
  EXPECT_EQ(look("HTTP/1.1 200 OK"), "HTTP");
  EXPECT_EQ(look("PRI * HTTP/2.0"), "HTTP");
  EXPECT_EQ(look(std::string_view("\x16\x03\x01\x02\x00\x01", 6)), "TLS");
  EXPECT_EQ(look(std::string_view("\x15\x03\x03\x00\x02\x02\x0a", 7)), "TLS");
  for (const std::string_view other : {"", "GET", "\x16\x03\x01", "SSH-2.0-OpenSSH", "\x16\x04\x01\x02"})
    EXPECT_EQ(look(other), "") << other;
}

TEST(Foreign, AHelloLooksLikeMf) {
  Session session(Role::client, {});
  session.send_hello();
  std::array<IoSlice, 4> slices;
  Buffer hello;
  for (const auto& slice : std::span(slices).first(session.fill_output(slices)))
    hello.append(std::span(slice.data, slice.size));
  EXPECT_EQ(looks_like(hello.span()), "MF");
}

TEST(Foreign, EndsASessionInWordsOnceItIsCertain) {
  for (const Role role : {Role::server, Role::client}) {
    Session session(role, {});
    const std::string_view text("\x15\x03\x03\x00\x02\x02\x0a", 7);
    const auto receive = [&](std::string_view bytes) {
      const auto window = session.receive_window();
      std::memcpy(window.data(), bytes.data(), bytes.size());
      session.commit(bytes.size());
    };
    Event event;
    receive(text.substr(0, 3));
    EXPECT_FALSE(session.next(event));
    receive(text.substr(3));
    ASSERT_TRUE(session.next(event));
    EXPECT_EQ(event.type, EventType::broken);
    EXPECT_EQ(event.code, Code::protocol_error);
    EXPECT_EQ(event.text,
              "the peer speaks no MF: its first bytes look like TLS; an address begins with tls:// at both "
              "ends, or "
              "at none");
  }
}

}  // namespace
}  // namespace mf::protocol
