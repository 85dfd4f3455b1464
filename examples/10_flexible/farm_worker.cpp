// farm-worker CONTROLLER: a worker of the farm (farm.py) in C++. A user of the farm cannot
// distinguish it from those in Python.
//
// A call is a message `call=METHOD, args=[…], id=N`, its answer a message `reply=N` with `result` or `error`.
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "mf/flex/flex.hpp"

namespace {

using namespace std::chrono_literals;
namespace flex = mf::flex;

constexpr auto kLimit = 600s;

/// What the workers of this example have.
class Factory {
 public:
  std::vector<std::int64_t> factors(std::int64_t number) {
    if (number < 1) throw std::invalid_argument(std::to_string(number) + " has no prime factors");
    std::vector<std::int64_t> found;
    for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor)
      for (; number % divisor == 0; number /= divisor) found.push_back(divisor);
    if (number > 1) found.push_back(number);
    ++made_;
    return found;
  }
  [[nodiscard]] int made() const { return made_; }

 private:
  int made_ = 0;
};

using Method = std::function<flex::Value(const flex::List& args)>;

/// Answers calls of methods, until a message says stop.
void serve(flex::Process& me, const std::map<std::string, Method>& methods) {
  for (;;) {
    const auto m = me.recv(kLimit);
    if (!m.contains("call")) return;
    flex::Attributes answer{{"dest", m.src()}, {"reply", m["id"]}};
    const auto method = methods.find(m["call"].to<std::string>());
    if (method == methods.end()) {
      answer.set("error", "AttributeError: there is no method " + to_string(m["call"]));
    } else {
      try {
        answer.set("result", method->second(m["args"].get<flex::List>()));
      } catch (const std::exception& error) {
        answer.set("error", std::string("ValueError: ") + error.what());
      }
    }
    me.send(answer);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: farm-worker CONTROLLER\n";
    return 2;
  }
  flex::Node node(argv[1], {.patience = kLimit});
  auto me = node.process({}, {.groups = {"farm"}});
  Factory factory;
  serve(me,
        {{"factors", [&](const flex::List& args) { return factory.factors(args.at(0).to<std::int64_t>()); }},
         {"made", [&](const flex::List&) { return factory.made(); }}});
  return 0;
}
