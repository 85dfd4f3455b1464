#include <iostream>

#include "guide.topics.hpp"
#include "library.hpp"

int main() {
  mf::Topics topics;
  mf::Server server({.listen = "tcp://127.0.0.1:0"});           // bind
  server.offer(std::make_shared<Shelf>(), {.agent = "north"});  // REP
  server.offer(topics);                                         // PUB
  server.start();
  mf::Client client(server.address().str());      // connect
  guide::LoansSubscriber loans(client, "north");  // SUB, with the prefix "north"
  guide::LoansPublisher publisher(topics);
  // No message is lost to a subscriber that joins slowly.
  (void)publisher.await_subscribers(1, std::chrono::seconds(10));
  const auto left = guide::ShelfClient(client).at("north").lend("Emma");  // REQ
  publisher.at("north").publish({.title = "Emma", .left = left});
  const auto message = loans.next();
  std::cout << message.agent() << ' ' << message->title << ' ' << message->left << '\n';
  loans.close();
  server.stop();
}
