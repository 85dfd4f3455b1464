#include <iostream>

#include "guide.topics.hpp"
#include "library.hpp"

using namespace std::chrono_literals;

int main() {
  mf::Topics topics;
  mf::Server server({.listen = "tcp://127.0.0.1:0"});
  server.offer(topics);
  server.start();
  guide::LoansPublisher publisher(topics);
  mf::Client client(server.address().str());
  guide::LoansSubscriber loans(client, "*");  // of all shelves
  (void)publisher.await_subscribers(1, 10s);
  for (const std::uint32_t left : {2U, 1U, 0U})
    publisher.at("north").publish({.title = "Emma", .left = left});
  publisher.at("south").publish({.title = "Persuasion", .left = 0});
  for (int received = 0; received < 4; ++received) {
    const auto message = loans.next(10s);
    std::cout << message.agent() << ' ' << message->title << ' ' << message->left << " number "
              << message.sequence() << '\n';
  }
  loans.close();
  server.stop();
}
