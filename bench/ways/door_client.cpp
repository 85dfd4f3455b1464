// `bench-ways-door-client PORT`: what a client of the HTTP door can do with blocking sockets and no library:
// `unary_i32`, `connections_64` (a call always under way on each of 64 connections), and `stream_100` (values
// of 100 bytes as lines of JSON).
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

std::string post(std::string_view method, const std::string& body) {
  return "POST /v1/bench.Bench/" + std::string(method) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
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
    const auto size = socket_.receive_some(block_.data(), block_.size());
    check(size != 0, "the door has closed the connection");
    came_.append(block_.data(), size);
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
  /// The lines of an answer in chunks.
  std::size_t lines() {
    std::size_t count = 0;
    char before = 0;
    std::string last;
    while (!last.ends_with("\r\n0\r\n\r\n")) {
      const auto size = socket_.receive_some(block_.data(), block_.size());
      check(size != 0, "the door has closed the connection");
      for (std::size_t i = 0; i < size; ++i) {
        if (block_[i] == '\n' && before == '}') ++count;
        before = block_[i];
      }
      last.append(block_.data(), size);
      if (last.size() > 16) last.erase(0, last.size() - 16);
    }
    return count;
  }
  [[nodiscard]] int fd() const noexcept { return socket_.fd(); }

 private:
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
  const bench_rpc::Works works{
      {"unary_i32",
       [&](std::size_t count) -> Run {
         return [&one, count] { return bench_rpc::one_by_one(count, [&](std::int32_t i) { one.call(i); }); };
       }},
      {"connections_64",
       [&](std::size_t count) -> Run {
         return [&many, count] { return bench_rpc::all_at_once(count, [&] { all_calls(many, count); }); };
       }},
      {"stream_100",
       [&](std::size_t count) -> Run {
         return [&one, count] {
           return bench_rpc::streamed(count, [&] {
             one.send(post("scan", "{\"count\":" + std::to_string(count) + "}"));
             check(one.lines() == count + 1, "values are missing");  // one line says the end
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
