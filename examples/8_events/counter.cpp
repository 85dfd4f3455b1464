// counter ADDRESS POLICY MESSAGES: what counter.py is, in C++. It keeps a live count of the additions to each
// collection, with a queue of so many messages and a policy for what finds no room in it; behind the last
// addition of each collection it says what it has counted and missed, and leaves at a line on standard input.
#include <iostream>
#include <map>
#include <string>

#include "events.topics.hpp"
#include "mf/client/client.hpp"

namespace {

mf::Overflow policy_of(const std::string& name) {
  for (const auto each : {mf::Overflow::drop_oldest, mf::Overflow::drop_newest, mf::Overflow::block})
    if (mf::topics::name(each) == name) return each;
  return mf::Overflow::disconnect;
}

struct Count {
  std::uint64_t counted = 0;
  std::uint64_t missed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "counter ADDRESS POLICY MESSAGES\n";
    return 2;
  }
  mf::Client client(argv[1]);
  events::AdditionsSubscriber additions(
      client, "*",
      {.overflow = policy_of(argv[2]), .max_messages = static_cast<std::uint32_t>(std::stoul(argv[3]))});
  std::map<std::string, Count> counts;
  int ended = 0;
  while (ended < 3) {
    const auto message = additions.next();
    auto& count = counts[message.agent()];
    ++count.counted;
    count.missed += message.missed();
    if (message->title == "the last one") ++ended;
  }
  for (const auto& [collection, count] : counts)
    std::cout << collection << ": " << count.counted << " counted, " << count.missed << " missed"
              << std::endl;
  std::string line;
  std::getline(std::cin, line);
  return 0;
}
