// `bench-ways-door-client PORT`: what a client of the HTTP door can do with blocking sockets and no library:
// `unary_i32`, `connections_64` (a call always under way on each of 64 connections), `stream_100` (values
// of 100 bytes as lines of JSON), the same as server-sent events (`stream_100/events`) and as messages of a
// WebSocket (`stream_100/websocket`), and `idle` (connections that stay open after one call).
#include <poll.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/raw_socket.hpp"

namespace bench_ways {
namespace {

using bench_rpc::check;
using bench_rpc::Run;
using bench_rpc::Socket;

std::string post(std::string_view method, const std::string& body, std::string_view more = "") {
  return "POST /v1/bench.Bench/" + std::string(method) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + std::string(more) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string next_of(std::int32_t x) {
  return post("next", "{\"x\":" + std::to_string(x) + "}");
}

/// One connection.
class Wire {
 public:
  explicit Wire(std::uint16_t port) : socket_(bench_rpc::connected(port)) { socket_.no_delay(); }

  void send(const std::string& text) const { socket_.send(text.data(), text.size()); }
  /// Receives what is there, and the body of the answer once it is whole; empty: it is not.
  std::string_view take() {
    receive();
    return whole();
  }
  /// The body of an answer that has come, if it is whole.
  [[nodiscard]] std::string_view whole() const {
    const auto head = came_.find("\r\n\r\n");
    if (head == std::string::npos) return {};
    check(came_.starts_with("HTTP/1.1 200 "), "another status than 200");
    const auto at = came_.find("Content-Length: ");
    check(at < head, "an answer without a length");
    const auto length = std::stoul(came_.substr(at + 16));
    if (came_.size() < head + 4 + length) return {};
    return std::string_view(came_).substr(head + 4, length);
  }
  void done() { came_.clear(); }
  void call(std::int32_t x) {
    send(next_of(x));
    std::string_view body;
    while (body.empty()) body = take();
    check(body == std::to_string(x + 1), "a wrong answer");
    done();
  }
  /// The lines of an answer in chunks that end so.
  std::size_t lines(char end) {
    std::size_t count = 0;
    char before = 0;
    std::string last;
    while (!last.ends_with("\r\n0\r\n\r\n")) {
      const auto size = socket_.receive_some(block_.data(), block_.size());
      check(size != 0, "the door has closed the connection");
      for (std::size_t i = 0; i < size; ++i) {
        if (block_[i] == '\n' && before == end) ++count;
        before = block_[i];
      }
      last.append(block_.data(), size);
      if (last.size() > 16) last.erase(0, last.size() - 16);
    }
    return count;
  }
  /// Opens a WebSocket for a method, with these arguments.
  void upgrade(std::string_view method, const std::string& arguments) {
    send("GET /v1/bench.Bench/" + std::string(method) +
         " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    while (came_.find("\r\n\r\n") == std::string::npos) receive();
    check(came_.starts_with("HTTP/1.1 101 "), "no WebSocket");
    came_.erase(0, came_.find("\r\n\r\n") + 4);
    const auto text = R"({"arguments":)" + arguments + "}";
    check(text.size() < 126, "a longer message than this client writes");
    // A mask of zeros leaves the text as it is.
    send(std::string{'\x81', static_cast<char>(0x80U | text.size()), 0, 0, 0, 0} + text);
  }
  /// The messages of a WebSocket until it is closed.
  std::size_t messages() {
    std::size_t count = 0;
    std::size_t at = 0;
    for (;;) {
      const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(came_[at + i]) & 0xffU; };
      const auto has = came_.size() - at;
      const std::size_t head = has < 2 || byte(1) < 126 ? 2 : 4;
      if (has >= head) {
        const auto size = head == 2 ? byte(1) : byte(2) << 8U | byte(3);
        check(byte(1) < 127, "a longer message than this client reads");
        if (has >= head + size) {
          if (byte(0) == 0x88) return count;
          check(byte(0) == 0x81, "a frame that is no text");
          at += head + size;
          ++count;
          continue;
        }
      }
      came_.erase(0, at);
      at = 0;
      receive();
    }
  }
  [[nodiscard]] int fd() const noexcept { return socket_.fd(); }

 private:
  void receive() {
    const auto size = socket_.receive_some(block_.data(), block_.size());
    check(size != 0, "the door has closed the connection");
    came_.append(block_.data(), size);
  }

  const Socket socket_;
  std::vector<char> block_ = std::vector<char>(std::size_t{64} << 10U);
  std::string came_;
};

/// A call always under way on each connection.
void all_calls(std::vector<std::unique_ptr<Wire>>& wires, std::size_t count) {
  std::vector<std::int32_t> sent(wires.size());
  std::vector<pollfd> waits;
  std::size_t started = 0;
  std::size_t ended = 0;
  const auto start = [&](std::size_t at) {
    sent[at] = static_cast<std::int32_t>(started++);
    wires[at]->send(next_of(sent[at]));
  };
  for (const auto& wire : wires) waits.push_back({.fd = wire->fd(), .events = POLLIN, .revents = 0});
  for (std::size_t i = 0; i < wires.size() && started < count; ++i) start(i);
  while (ended < count) {
    check(::poll(waits.data(), waits.size(), 10'000) > 0, "no answer in ten seconds");
    for (std::size_t i = 0; i < wires.size(); ++i) {
      if ((waits[i].revents & POLLIN) == 0) continue;
      const auto body = wires[i]->take();
      if (body.empty()) continue;
      check(body == std::to_string(sent[i] + 1), "a wrong answer");
      wires[i]->done();
      ++ended;
      if (started < count) start(i);
    }
  }
}

int call(std::uint16_t port) {
  Wire one(port);
  std::vector<std::unique_ptr<Wire>> many;
  for (int i = 0; i < 64; ++i) many.push_back(std::make_unique<Wire>(port));
  std::vector<std::unique_ptr<Wire>> idle;
  // The stream in one of its forms, which returns how many values and ends have come.
  using Form = std::size_t (*)(Wire& one, std::uint16_t port, const std::string& arguments);
  const auto stream = [&](Form form) {
    return [&one, form, port](std::size_t count) -> Run {
      return [&one, form, port, count] {
        return bench_rpc::streamed(count, [&] {
          check(form(one, port, "{\"count\":" + std::to_string(count) + "}") == count + 1,
                "values are missing");
        });
      };
    };
  };
  const bench_rpc::Works works{
      {"unary_i32",
       [&](std::size_t count) -> Run {
         return [&one, count] { return bench_rpc::one_by_one(count, [&](std::int32_t i) { one.call(i); }); };
       }},
      {"connections_64",
       [&](std::size_t count) -> Run {
         return [&many, count] { return bench_rpc::all_at_once(count, [&] { all_calls(many, count); }); };
       }},
      {"stream_100", stream([](Wire& wire, std::uint16_t, const std::string& asked) {
         wire.send(post("scan", asked));
         return wire.lines('}');
       })},
      {"stream_100/events", stream([](Wire& wire, std::uint16_t, const std::string& asked) {
         wire.send(post("scan", asked, "Accept: text/event-stream\r\n"));
         return wire.lines('"') + 1;  // the end is null
       })},
      {"stream_100/websocket", stream([](Wire&, std::uint16_t door, const std::string& asked) {
         Wire talking(door);
         talking.upgrade("scan", asked);
         return talking.messages();
       })},
      {"idle",
       [&](std::size_t count) -> Run {
         return [&idle, port, count] {
           return bench_rpc::all_at_once(count, [&] {
             for (std::size_t i = 0; i < count; ++i)
               idle.emplace_back(std::make_unique<Wire>(port))->call(static_cast<std::int32_t>(i));
           });
         };
       }},
  };
  return bench_rpc::obey(works);
}

}  // namespace
}  // namespace bench_ways

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench-ways-door-client PORT\n", stderr);
    return 2;
  }
  return bench_ways::call(static_cast<std::uint16_t>(std::stoul(argv[1])));
}
