// The limit: the same works over a blocking TCP socket, each message behind a 4-byte length, nothing else.
// `raw server` and `raw client PORT`.
//
// The first byte of a connection says what the server does on it: 's' answers small messages, all that one
// read brought with one write; 'b' answers one message of many items; 'e' echoes; 'p' sends as many small
// messages as the client asks for; 'l' receives and counts as many as the client announces. A message starts
// with a number, from which its answer is made: the server does the same work as the servants of the others.
#include <cstring>
#include <memory>
#include <thread>

#include "raw_socket.hpp"

namespace bench_rpc {
namespace {

constexpr std::size_t kName = 16;
constexpr std::size_t kItem = 4 + kName;
constexpr std::size_t kReadAhead = std::size_t{64} << 10;
constexpr std::size_t kOutstanding = 128;
constexpr std::size_t kLargest = std::size_t{64} << 20;

template <class T>
[[nodiscard]] T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
std::byte* store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

[[nodiscard]] std::int32_t answer_to(const std::byte* message, std::size_t size) {
  const auto number = load<std::int32_t>(message);
  return size == 4 ? number + 1 : looked_up(number, size - 4);
}

void serve_small(const Socket& socket) {
  std::vector<std::byte> in(kReadAhead);
  std::vector<std::byte> out(kReadAhead);  // an answer is never longer than its message
  std::size_t have = 0;
  for (;;) {
    const auto got = socket.receive_some(in.data() + have, in.size() - have);
    if (got == 0) return;
    have += got;
    std::size_t done = 0;
    auto* end = out.data();
    while (have - done >= 8) {
      const std::size_t size = load<std::uint32_t>(in.data() + done);
      if (have - done < 4 + size) break;
      end = store(store(end, std::uint32_t{4}), answer_to(in.data() + done + 4, size));
      done += 4 + size;
    }
    std::memmove(in.data(), in.data() + done, have - done);
    have -= done;
    if (end != out.data()) socket.send(out.data(), static_cast<std::size_t>(end - out.data()));
  }
}

void serve_large(const Socket& socket, bool echo) {
  std::vector<std::byte> in(4);
  std::vector<std::byte> out;
  while (socket.receive(in.data(), 4)) {
    const std::size_t size = load<std::uint32_t>(in.data());
    check(size <= kLargest, "a message too long");
    if (in.size() < 4 + size) in.resize(4 + size);
    if (!socket.receive(in.data() + 4, size)) return;
    if (echo) {
      socket.send(in.data(), 4 + size);
      continue;
    }
    const std::size_t items = size / kItem;
    out.resize(4 + 4 * items);
    auto* end = store(out.data(), static_cast<std::uint32_t>(4 * items));
    for (std::size_t i = 0; i < items; ++i) end = store(end, answer_to(in.data() + 4 + i * kItem, kItem));
    socket.send(out.data(), out.size());
  }
}

/// Sends `count` messages, as many in one write as fit.
void send_values(const Socket& socket, std::size_t count) {
  std::vector<std::byte> out(kReadAhead / (4 + kValueSize) * (4 + kValueSize));
  const std::vector<std::byte> value(kValueSize, std::byte{7});
  while (count > 0) {
    const auto n = std::min(count, out.size() / (4 + kValueSize));
    auto* end = out.data();
    for (std::size_t i = 0; i < n; ++i) {
      end = store(end, static_cast<std::uint32_t>(kValueSize));
      std::memcpy(end, value.data(), kValueSize);
      end += kValueSize;
    }
    socket.send(out.data(), static_cast<std::size_t>(end - out.data()));
    count -= n;
  }
}

/// Each value gets memory of its own, as it would for a user. Returns how many came.
[[nodiscard]] std::size_t receive_values(const Socket& socket, std::size_t count) {
  std::vector<std::byte> in(kReadAhead);
  std::vector<std::byte> value;
  std::size_t have = 0;
  std::size_t come = 0;
  while (come < count) {
    const auto got = socket.receive_some(in.data() + have, in.size() - have);
    if (got == 0) return come;
    have += got;
    std::size_t done = 0;
    while (have - done >= 4) {
      const std::size_t size = load<std::uint32_t>(in.data() + done);
      if (have - done < 4 + size) break;
      value.assign(in.data() + done + 4, in.data() + done + 4 + size);
      come += value.size() == kValueSize ? 1 : 0;
      done += 4 + size;
    }
    std::memmove(in.data(), in.data() + done, have - done);
    have -= done;
  }
  return come;
}

void serve_streams(const Socket& socket, bool push) {
  std::uint32_t count = 0;
  while (socket.receive(&count, sizeof count)) {
    if (push) {
      send_values(socket, count);
      continue;
    }
    const auto come = static_cast<std::uint32_t>(receive_values(socket, count));
    socket.send(&come, sizeof come);
  }
}

int serve() {
  std::uint16_t port = 0;
  const Socket listener(listening(port));
  std::thread([&listener] {
    for (;;) {
      const int fd = ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      std::thread([fd] {
        const Socket socket(fd);
        socket.no_delay();
        char mode = 0;
        if (!socket.receive(&mode, 1)) return;
        if (mode == 's') return serve_small(socket);
        if (mode == 'p' || mode == 'l') return serve_streams(socket, mode == 'p');
        serve_large(socket, mode == 'e');
      }).detach();
    }
  }).detach();
  serve_until_stdin_ends(port);
  std::_Exit(0);  // the threads block in reads that never end
}

[[nodiscard]] std::shared_ptr<Socket> connection(std::uint16_t port, char mode) {
  auto socket = std::make_shared<Socket>(connected(port));
  socket->no_delay();
  socket->send(&mode, 1);
  return socket;
}

Run unary(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=] {
    return one_by_one(count, [&](std::int32_t i) {
      std::byte message[8];
      store(store(message, std::uint32_t{4}), i);
      socket->send(message, sizeof message);
      check(socket->receive(message, sizeof message) && load<std::int32_t>(message + 4) == i + 1,
            "a wrong answer");
    });
  };
}

Run pipelined(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=] {
    return all_at_once(count, [&] {
      std::byte buffer[8 * kOutstanding];
      for (std::size_t first = 0; first < count; first += kOutstanding) {
        const auto n = std::min(kOutstanding, count - first);
        auto* end = buffer;
        for (std::size_t i = 0; i < n; ++i) {
          end = store(store(end, std::uint32_t{4}), static_cast<std::int32_t>(first + i));
        }
        socket->send(buffer, 8 * n);
        check(socket->receive(buffer, 8 * n), "the server went away");
        for (std::size_t i = 0; i < n; ++i) {
          check(load<std::int32_t>(buffer + 8 * i + 4) == static_cast<std::int32_t>(first + i + 1),
                "a wrong answer");
        }
      }
    });
  };
}

struct Request {
  std::int32_t id;
  std::string name;
};

[[nodiscard]] std::vector<Request> requests(std::size_t count) {
  std::vector<Request> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back({static_cast<std::int32_t>(i), name_of(i)});
  return made;
}

std::byte* store(std::byte* at, const Request& request) {
  at = store(at, request.id);
  std::memcpy(at, request.name.data(), kName);
  return at + kName;
}

/// At most two chunks are under way, so neither side ever waits for the other to read.
Run independent(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=, made = requests(count)] {
    return all_at_once(count, [&] {
      constexpr std::size_t kChunk = 2048;
      std::vector<std::byte> out(kChunk * (4 + kItem));
      std::vector<std::byte> in(kChunk * 8);
      const auto read_chunk = [&](std::size_t first, std::size_t n) {
        check(socket->receive(in.data(), 8 * n), "the server went away");
        for (std::size_t i = 0; i < n; ++i) {
          check(load<std::int32_t>(in.data() + 8 * i + 4) == looked_up(made[first + i].id, kName),
                "a wrong answer");
        }
      };
      std::size_t read = 0;
      std::size_t sent = 0;
      while (read < count) {
        const auto before = sent;
        auto* end = out.data();
        for (; sent < count && sent - before < kChunk; ++sent) {
          end = store(store(end, static_cast<std::uint32_t>(kItem)), made[sent]);
        }
        socket->send(out.data(), static_cast<std::size_t>(end - out.data()));
        const auto until = sent == count ? count : before;
        while (read < until) {
          const auto n = std::min(kChunk, until - read);
          read_chunk(read, n);
          read += n;
        }
      }
    });
  };
}

Run batch(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=, made = requests(count)] {
    return all_at_once(count, [&] {
      std::vector<std::byte> out(4 + count * kItem);
      auto* end = store(out.data(), static_cast<std::uint32_t>(count * kItem));
      for (const auto& request : made) end = store(end, request);
      socket->send(out.data(), out.size());
      std::vector<std::byte> in(4 + 4 * count);
      check(socket->receive(in.data(), in.size()), "the server went away");
      for (std::size_t i = 0; i < count; ++i) {
        check(load<std::int32_t>(in.data() + 4 + 4 * i) == looked_up(made[i].id, kName), "a wrong answer");
      }
    });
  };
}

Run echo(const std::shared_ptr<Socket>& socket, std::size_t count, std::size_t bytes) {
  return [=, out = std::vector<std::byte>(4 + bytes, std::byte{7})]() mutable {
    std::vector<std::byte> in(out.size());
    store(out.data(), static_cast<std::uint32_t>(bytes));
    return echoes(count, bytes, [&] {
      socket->send(out.data(), out.size());
      check(socket->receive(in.data(), in.size()) && in.back() == std::byte{7}, "a wrong echo");
    });
  };
}

Run server_stream(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=] {
    return streamed(count, [&] {
      const auto asked = static_cast<std::uint32_t>(count);
      socket->send(&asked, sizeof asked);
      check(receive_values(*socket, count) == count, "values are missing");
    });
  };
}

Run client_stream(const std::shared_ptr<Socket>& socket, std::size_t count) {
  return [=] {
    return streamed(count, [&] {
      auto said = static_cast<std::uint32_t>(count);
      socket->send(&said, sizeof said);
      send_values(*socket, count);
      check(socket->receive(&said, sizeof said) && said == count, "values are missing");
    });
  };
}

class Callee {
 public:
  virtual ~Callee() = default;
  virtual std::int32_t next(std::int32_t x) = 0;
};

class Next final : public Callee {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
};

/// Keeps the compiler from knowing which of the two classes it calls.
class Same final : public Callee {
 public:
  std::int32_t next(std::int32_t x) override { return x; }
};

Run virtual_call(std::size_t count) {
  return [=] {
    std::unique_ptr<Callee> callee = std::make_unique<Next>();
    if (count == 0) callee = std::make_unique<Same>();
    return in_a_row(count, [&](std::int32_t i) { check(callee->next(i) == i + 1, "a wrong answer"); });
  };
}

int call(std::uint16_t port) {
  const auto small = connection(port, 's');
  const auto large = connection(port, 'b');
  const auto echoing = connection(port, 'e');
  const auto pushing = connection(port, 'p');
  const auto loading = connection(port, 'l');
  return obey({
      {"unary_i32", [=](std::size_t n) { return unary(small, n); }},
      {"pipelined_128", [=](std::size_t n) { return pipelined(small, n); }},
      {"independent_100k", [=](std::size_t n) { return independent(small, n); }},
      {"batch_100k", [=](std::size_t n) { return batch(large, n); }},
      {"echo_1mib", [=](std::size_t n) { return echo(echoing, n, std::size_t{1} << 20); }},
      {"echo_16mib", [=](std::size_t n) { return echo(echoing, n, std::size_t{16} << 20); }},
      {"echo_f64_1m", [=](std::size_t n) { return echo(echoing, n, kNumbers * sizeof(double)); }},
      {"server_stream_100b", [=](std::size_t n) { return server_stream(pushing, n); }},
      {"client_stream_100b", [=](std::size_t n) { return client_stream(loading, n); }},
      {"in_process", [](std::size_t n) { return virtual_call(n); }},
  });
}

}  // namespace
}  // namespace bench_rpc

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "server") return bench_rpc::serve();
  if (argc == 3 && std::string_view(argv[1]) == "client") {
    return bench_rpc::call(static_cast<std::uint16_t>(std::atoi(argv[2])));
  }
  std::fputs("usage: raw server | raw client PORT\n", stderr);
  return 2;
}
