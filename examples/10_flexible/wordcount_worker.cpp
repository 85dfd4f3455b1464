// wordcount-worker CONTROLLER [PIECE]: a worker of wordcount.py in C++. It is killed in the midst of that
// piece, to show what becomes of it.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "mf/flex/flex.hpp"

namespace {

using namespace std::chrono_literals;
namespace flex = mf::flex;

constexpr auto kLimit = 60s;
constexpr const char* kCounter = "wordcount.counter";

/// A word is a longest run of ASCII letters and digits; capitals are taken as small ones.
void count_words(std::string_view text, std::map<std::string, std::int64_t>& counts) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) ++counts[word];
    word.clear();
  };
  for (const char each : text) {
    const char small = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) {
      word += small;
    } else {
      end_word();
    }
  }
  end_word();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: wordcount-worker CONTROLLER [PIECE]\n";
    return 2;
  }
  const int last = argc > 2 ? std::stoi(argv[2]) : 0;
  flex::Node node(argv[1], {.patience = kLimit});
  auto me = node.process({}, {.groups = {"wordcount"}});
  me.send({{"dest", kCounter}, {"tag", "ready"}}).wait(kLimit);
  std::cout << "ready" << std::endl;
  for (int pieces = 1;; ++pieces) {
    const auto m = me.recv(10 * kLimit, {{"src", kCounter}});
    if (m["tag"] != "piece") return 0;
    if (pieces == last) std::raise(SIGKILL);
    std::map<std::string, std::int64_t> counts;
    for (const auto& text : m["texts"].get<flex::List>()) count_words(text.get<std::string>(), counts);
    me.send({{"dest", kCounter}, {"tag", "counted"}, {"number", m["number"]}, {"counts", counts}});
  }
}
