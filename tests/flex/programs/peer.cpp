// peer WHERE NAME echo | count N | take N | move | say DEST: a process of C++ for the tests between
// languages.
//
// echo answers each message with its attributes, and with the kinds of them, until one says `stop`; count
// takes so many messages with `n`, and prints them; take takes so many, and waits to be killed; move changes
// a thing of the schema; say sends one of each kind, and waits until it was taken. The environment of
// support/peer_options.hpp says how it listens, shows and verifies peers, and what these may do.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "mf/flex/flex.hpp"
#include "support/peer_options.hpp"
#include "things.hpp"

namespace {

using namespace mf::flex;
using namespace std::chrono_literals;

constexpr auto kLimit = 60s;

void echo(Process& me) {
  for (;;) {
    const auto message = me.recv(kLimit);
    if (message.contains("stop")) return;
    auto answer = message.attributes();
    Map kinds;
    for (const auto& [attribute, value] : answer) kinds.set(attribute, name(value.kind()));
    answer.set("kinds", kinds);
    answer.set("dest", message.src());
    (void)me.send(answer);
  }
}

void count(Process& me, int messages) {
  for (int i = 0; i < messages; ++i) std::cout << me.recv(kLimit, {{"n", any}})["n"] << "\n";
}

void take(Process& me, int messages) {
  for (int i = 0; i < messages; ++i) (void)me.recv(kLimit, {{"n", i}});
  (void)me.poll(kLimit, {{"stop", any}});
}

void move(Process& me) {
  const auto message = me.recv(kLimit, {{"thing", of<things::Thing>()}});
  auto thing = message["thing"].to<things::Thing>();
  for (auto& place : thing.places) ++place.x;
  thing.colour = things::Colour::blue;
  me.send({{"dest", message.src()},
           {"thing", thing},
           {"shape", things::Shape::of_point(thing.places.at(0))},
           {"colours", {thing.colour, message["colour"].to<things::Colour>()}}})
      .wait(kLimit);
}

void say(Process& me, const std::string& dest) {
  std::vector<double> numbers(10'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) / 2;
  mf::Uuid uuid;
  for (std::size_t i = 0; i < 16; ++i) uuid.bytes[i] = static_cast<std::uint8_t>(i);
  me.send({{"dest", dest},
           {"none", nullptr},
           {"yes", true},
           {"small", -5},
           {"large", ~std::uint64_t{0}},
           {"half", 0.5},
           {"text", "grüße"},
           {"bytes", std::vector{std::byte{0}, std::byte{255}}},
           {"time", mf::Timestamp(mf::Duration(1))},
           {"uuid", uuid},
           {"list", {1, "two", {3.5}}},
           {"row", std::vector<int>{1, 2, 300}},
           {"map", Map{{"a", 1}, {2, "b"}}},
           {"array", Array(numbers, {100, 100})},
           {"typed", Typed("a.B", mf::Fingerprint{1, 2}, mf::Bytes{std::byte{7}})}})
      .wait(kLimit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string_view role = argv[3];
  try {
    NodeOptions options{.patience = kLimit};
    options.listen = mftest::peer_listen();
    options.tls = mftest::peer_tls();
    options.access = mftest::peer_access();
    Node node(argv[1], options);
    auto me = node.process(argv[2]);
    std::cout << "ready" << std::endl;
    if (role == "echo") echo(me);
    if (role == "count") count(me, std::atoi(argv[4]));
    if (role == "take") take(me, std::atoi(argv[4]));
    if (role == "move") move(me);
    if (role == "say") say(me, argv[4]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
