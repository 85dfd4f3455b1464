// bench-flex-match WAITING TIMES: us for each poll() of one message among so many that do not match, as
// JSON: asked for by value, and by a function. The same as `program.py match` does.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mf/flex/flex.hpp"

namespace {

using namespace mf::flex;

double median_us(Process& a, Process& me, const Pattern& pattern, int times) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> spent;
  (void)me.peek(pattern);
  for (int i = 0; i < times; ++i) {
    a.send({{"dest", "me"}, {"tag", "x"}, {"n", -1}});
    const auto before = Clock::now();
    const auto message = me.poll(pattern);
    spent.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    if (!message || (*message)["n"] != -1) std::abort();
  }
  std::ranges::sort(spent);
  return spent[spent.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int waiting = std::atoi(argv[1]);
  const int times = std::atoi(argv[2]);
  Node node({.log = mf::Log(mf::Level::off)});
  auto me = node.process("me", {.max_messages = 1U << 20U, .max_bytes = std::size_t{1} << 30U});
  std::vector<Process> senders;
  for (const auto* name : {"A", "B", "C", "D"}) senders.push_back(node.process(name));
  for (int n = 0; n < waiting; ++n)
    senders[static_cast<std::size_t>(n % 4)].send(
        {{"dest", "me"}, {"tag", n % 4 == 0 ? "y" : "x"}, {"n", n}});
  const auto by_value = median_us(senders[0], me, {{"src", "A"}, {"tag", "x"}}, times);
  const auto by_function =
      median_us(senders[0], me, {{"src", "A"}, {"tag", [](const Value& tag) { return tag == "x"; }}}, times);
  std::printf("{\"mf\": %.3f, \"mf/function\": %.3f}\n", by_value, by_function);
  return 0;
}
