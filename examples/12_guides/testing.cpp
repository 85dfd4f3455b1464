#include <iostream>

#include "guide.client.hpp"
#include "guide.server.hpp"
#include "mf/testing/channel.hpp"
#include "mf/testing/clock.hpp"
#include "mf/testing/script.hpp"

using namespace std::chrono_literals;
using guide::methods::ShelfCopies;

int main() {
  mf::testing::FakeClock clock;  // time passes when the test says so
  mf::testing::Recorder recorder;
  auto servant = std::make_shared<mf::testing::Script<guide::methods::ShelfMethod>>(&recorder);
  servant->on<ShelfCopies>([](const guide::ShelfCopiesRequest& request) -> std::uint32_t {
    if (request.title != "Emma") throw guide::NoSuchBook(request.title);
    return 3;
  });
  mf::testing::Channel channel(servant, {.offer = {.agent = "north"}});
  const auto shelf = guide::ShelfClient(channel.client()).at("north");
  std::cout << "copies: " << shelf.copies("Emma") << '\n';
  const auto began = clock.now();
  // The next reply is lost, and a second passes.
  channel.faults().drop(mf::testing::Operation::reply, 1, 1s);
  try {
    (void)shelf.copies("Emma", {.deadline = 1s});
  } catch (const mf::Error& error) {
    const auto passed = std::chrono::round<std::chrono::seconds>(clock.now() - began);
    std::cout << mf::name(error.code()) << " after " << passed.count() << " s\n";
  }
  try {
    (void)shelf.copies("Ulysses");
  } catch (const guide::NoSuchBook& error) {
    std::cout << "no such book: " << error.title << '\n';
  }
  std::cout << "asked:";
  for (const auto& call : recorder.calls()) std::cout << ' ' << call.request<ShelfCopies>().title;
  std::cout << '\n';
}
