// Serves and calls all schemas of tests/vectors/evolution: what tests/evolution/live.py has for Python. Each
// line of standard input is a command, words between spaces; each is answered by lines of JSON and {"done":
// true}.
//
//   serve PAIR SIDE [CONTROLLER]       one server more: its address; it registers at the controller
//   answer PAIR SIDE METHOD HEX...     the results of that method from now on
//   stream PAIR SIDE METHOD HEX...     the values that its stream has
//   throw PAIR SIDE METHOD INDEX HEX   throws that one of its errors, once
//   took PAIR SIDE                     the requests, and values of streams, that have come since
//   connect PAIR SIDE ADDRESS          a client more of that schema, in the place of the one before
//   call PAIR SIDE METHOD HEX...       one message of so many items: a line for each
//   send PAIR SIDE METHOD HEX HEX...   a request, and the values of its stream
//   stop                               ends all servers and clients
//
// A value of no bytes is written as "-".
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/hex.hpp"
#include "mf/server/server.hpp"
#include "say.hpp"
#include "side.hpp"

namespace evolution_test {

#define SIDE(name) Side side_of_##name();
#include "sides.inc"
#undef SIDE

namespace {

using interop_test::say;
using interop_test::text;

const std::map<std::string, Side, std::less<>>& sides() {
  static const std::map<std::string, Side, std::less<>> all{
#define SIDE(name) {#name, side_of_##name()},
#include "sides.inc"
  };
  return all;
}

using Words = std::vector<std::string>;

Value unhex(const std::string& digits) {
  Value bytes;
  for (std::size_t at = 0; digits != "-" && at < digits.size(); at += 2) {
    unsigned value = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, value, 16);
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

std::string list(const std::vector<Value>& values) {
  std::string all;
  for (const auto& each : values) all += (all.empty() ? "" : ", ") + text(mf::to_hex(each));
  return "[" + all + "]";
}

std::vector<Value> values(const Words& words, std::size_t from) {
  std::vector<Value> all;
  for (std::size_t at = from; at < words.size(); ++at) all.push_back(unhex(words[at]));
  return all;
}

class Peer {
 public:
  void run(const Words& words) {
    const auto& what = words.at(0);
    if (what == "stop") {
      clients_.clear();
      servers_.clear();
      return;
    }
    const auto name = words.at(1) + "_" + words.at(2);
    const auto& side = sides().at(name);
    if (what == "serve") return serve(name, side, words.size() > 3 ? words[3] : "");
    if (what == "connect") return connect(name, side, words.at(3));
    if (what == "took") return say({{"took", list(answers(name).take())}});
    const auto& method = words.at(3);
    if (what == "answer") return answers(name).plan(method, {.results = values(words, 4)});
    if (what == "stream") return answers(name).plan(method, {.elements = values(words, 4)});
    if (what == "throw")
      return answers(name).plan(method, {.errors = {{std::stoul(words.at(4)), unhex(words.at(5))}}});
    const auto& known = *side.method(method);
    const auto& target = *clients_.at(name).target;
    const auto all = values(words, 4);
    const auto sent = what == "send" ? known.call(target, std::span(all).first(1), std::span(all).subspan(1))
                                     : known.call(target, all, {});
    for (const auto& each : sent) tell(each);
  }

 private:
  struct Calling {
    std::unique_ptr<mf::Client> client;
    std::unique_ptr<mf::client::Target> target;
  };

  void serve(const std::string& name, const Side& side, const std::string& controller) {
    const mf::Log quiet(mf::Level::off);
    auto server = std::make_unique<mf::Server>(
        mf::ServerOptions{.listen = "tcp://127.0.0.1:0", .controller = controller, .log = quiet});
    answers_[name] = std::make_shared<Answers>();
    server->offer(std::make_shared<Echo>(side, answers_[name]));
    server->start();
    say({{"address", text(server->address().str())}});
    servers_.push_back(std::move(server));
  }
  void connect(const std::string& name, const Side& side, const std::string& address) {
    auto& calling = clients_[name];
    calling = {};
    calling.client = std::make_unique<mf::Client>(address, mf::ClientOptions{.log = mf::Log(mf::Level::off)});
    calling.target = std::make_unique<mf::client::Target>(*calling.client, *side.service);
  }
  Answers& answers(const std::string& name) { return *answers_.at(name); }
  static void tell(const Ended& ended) {
    say({{"code", text(mf::name(ended.failure.code))},
         {"execution", text(mf::name(ended.failure.execution))},
         {"message", text(ended.failure.message)},
         {"error", std::to_string(ended.error)},
         {"value", text(mf::to_hex(ended.value))},
         {"stream", list(ended.elements)}});
  }

  std::map<std::string, std::shared_ptr<Answers>> answers_;
  std::vector<std::unique_ptr<mf::Server>> servers_;
  std::map<std::string, Calling> clients_;
};

}  // namespace
}  // namespace evolution_test

int main() {
  evolution_test::Peer peer;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    try {
      peer.run({std::istream_iterator<std::string>(words), {}});
    } catch (const std::exception& error) {
      interop_test::say({{"wrong", interop_test::text(error.what())}});
    }
    interop_test::say({{"done", "true"}});
  }
}
