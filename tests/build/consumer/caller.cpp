// Calls a service in every way that there is, and has no servant.
#include <chrono>
#include <iostream>
#include <vector>

#include "mf/core/error.hpp"
#include "ways.client.hpp"

int main() {
  using namespace std::chrono_literals;
  mf::Client client("tcp://127.0.0.1:1");
  const ways::WaysClient ways(client);
  try {
    ways.say("a", {.deadline = 20ms});
  } catch (const mf::Error& error) {
    std::cout << mf::name(error.code()) << '\n';
  }
  try {
    while (ways.follow({.deadline = 20ms}).next()) continue;
  } catch (const mf::Error& error) {
    std::cout << mf::name(error.code()) << '\n';
  }
  const std::vector<ways::WaysSayRequest> requests(2);
  for (const auto& outcome : ways.say_batch(requests, {.deadline = 20ms}).results())
    std::cout << mf::name(outcome.failure().code) << '\n';
}
