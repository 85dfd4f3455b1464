// `bench-flex-pingpong WAY server` and `bench-flex-pingpong WAY client PORT`: the ping-pong of Table 2 in
// C++, as program.py has it in Python.
//
// A message of one attribute of so many bytes goes there and back. The ways: `raw`, a blocking socket and a
// length; `codec`, a flexible message on it; `queue`, the same through a mailbox at both ends, as the paper's
// own; `node`, processes of two nodes.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "flex/mailbox.hpp"
#include "mf/client/client.hpp"
#include "mf/flex/flex.hpp"
#include "rpc/raw_socket.hpp"

namespace {

using bench_rpc::check;
using bench_rpc::Metrics;
using bench_rpc::Run;
using bench_rpc::Socket;
using bench_rpc::Work;
using mf::Bytes;
using namespace mf::flex;
using namespace std::chrono_literals;

/// One end, used by one thread.
class End {
 public:
  virtual ~End() = default;
  virtual void send(const Bytes& data) = 0;
  virtual Bytes receive() = 0;
};

/// The bytes behind their length.
class Raw : public End {
 public:
  explicit Raw(int fd) : socket_(fd) { socket_.no_delay(); }

  void send(const Bytes& data) override { send_all(data); }
  Bytes receive() override { return receive_all(); }

 protected:
  void send_all(const Bytes& data) {
    const auto size = static_cast<std::uint32_t>(data.size());
    out_.resize(sizeof size + data.size());
    std::memcpy(out_.data(), &size, sizeof size);
    std::memcpy(out_.data() + sizeof size, data.data(), data.size());
    socket_.send(out_.data(), out_.size());
  }
  Bytes receive_all() {
    std::uint32_t size = 0;
    if (!socket_.receive(&size, sizeof size)) std::exit(0);
    mf::Buffer in;
    in.resize(size);
    check(socket_.receive(in.data(), size), "the peer went away");
    return Bytes(std::move(in));
  }

 private:
  Socket socket_;
  std::vector<std::byte> out_;
};

class Coded : public Raw {
 public:
  using Raw::Raw;

  void send(const Bytes& data) override { send_all(encode_attributes({{"tag", "data"}, {"data", data}})); }
  Bytes receive() override { return decoded(receive_all()).take("data").get<Bytes>(); }

 protected:
  static Attributes decoded(const Bytes& bytes) { return decode_attributes(bytes).value(); }
};

class Queued final : public Coded {
 public:
  using Coded::Coded;

  Bytes receive() override {
    const auto bytes = receive_all();
    check(box_->put(std::make_shared<const Parcel>(Parcel{.message = Message("A", "B", decoded(bytes)),
                                                          .size = bytes.size() + Mailbox::kOverhead})),
          "no room");
    const auto message = box_->recv_now(Asked({{"src", "A"}, {"tag", "data"}}));
    check(message.has_value(), "no message");
    return (*message)["data"].get<Bytes>();
  }

 private:
  mf::Client client_{std::make_shared<mf::StaticResolver>(std::vector<mf::Address>{}), {}};
  std::shared_ptr<Mailbox> box_ = std::make_shared<Mailbox>("B", Mailbox::Bounds{}, client_.core());
};

/// The answers come by a node of their own, which gets the address of this one with the first message.
class Noded final : public End {
 public:
  explicit Noded(unsigned port) : node_("tcp://127.0.0.1:" + std::to_string(port)), me_(node_.process("A")) {
    me_.send({{"dest", "server"}, {"address", node_.address()}});
  }

  void send(const Bytes& data) override { me_.send({{"dest", "server"}, {"tag", "data"}, {"data", data}}); }
  Bytes receive() override { return me_.recv(60s, {{"src", "back"}, {"tag", "data"}})["data"].get<Bytes>(); }

 private:
  Node node_;
  Process me_;
};

std::unique_ptr<End> end_of(std::string_view way, int fd) {
  if (way == "raw") return std::make_unique<Raw>(fd);
  if (way == "codec") return std::make_unique<Coded>(fd);
  check(way == "queue", "no such way");
  return std::make_unique<Queued>(fd);
}

int serve(std::string_view way) {
  std::uint16_t port = 0;
  const Socket listener(bench_rpc::listening(port));
  std::printf("%u\n", unsigned{port});
  std::fflush(stdout);
  const auto end = end_of(way, ::accept(listener.fd(), nullptr, nullptr));
  for (;;) end->send(end->receive());
}

int serve_node() {
  Node node("");
  std::thread([me = std::make_shared<Process>(node.process("server"))] {
    Node back((*me).recv(600s, {{"address", of<std::string>()}})["address"].get<std::string>());
    auto there = back.process("back");
    for (;;) {
      const auto m = me->recv(600s, {{"tag", "data"}});
      there.send({{"dest", "A"}, {"tag", "data"}, {"data", m["data"]}});
    }
  }).detach();
  const auto address = node.address();
  bench_rpc::serve_until_stdin_ends(
      static_cast<unsigned>(std::stoul(address.substr(address.rfind(':') + 1))));
  std::_Exit(0);  // the thread waits for what does not come
}

Work pingpong(End& end, std::size_t size) {
  return [&end, size](std::size_t count) -> Run {
    return [&end, size, count]() -> Metrics {
      const Bytes data(std::string(size, '\0'));
      const auto times = bench_rpc::one_by_one(count, [&](std::int32_t) {
        end.send(data);
        check(end.receive().size() == size, "a wrong answer");
      });
      const double round_trip = times.front().second;
      return {{"one_way_us", round_trip / 2}, {"mb_per_s", 2 * static_cast<double>(size) / round_trip}};
    };
  };
}

int run(std::string_view way, unsigned port) {
  std::unique_ptr<End> end;
  if (way == "node") {
    end = std::make_unique<Noded>(port);
  } else {
    end = end_of(way, bench_rpc::connected(static_cast<std::uint16_t>(port)));
  }
  bench_rpc::obey({{"pingpong_128", pingpong(*end, 128)},
                   {"pingpong_16k", pingpong(*end, std::size_t{16} << 10U)},
                   {"pingpong_64k", pingpong(*end, std::size_t{64} << 10U)}});
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() == 2 && given[1] == "server") return given[0] == "node" ? serve_node() : serve(given[0]);
  if (given.size() == 3 && given[1] == "client")
    return run(given[0], static_cast<unsigned>(std::stoul(given[2])));
  std::fputs("usage: bench-flex-pingpong WAY server | bench-flex-pingpong WAY client PORT\n", stderr);
  return 2;
}
