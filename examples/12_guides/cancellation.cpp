#include <future>
#include <iostream>
#include <stop_token>

#include "library.hpp"

int main() {
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  std::stop_source source;
  std::promise<bool> cancelled;
  shelf.async_count_pages({.stop = source.get_token()}, [&](mf::Outcome<std::uint64_t> outcome) {
    cancelled.set_value(!outcome && outcome.failure().code == mf::Code::cancelled);
  });
  (void)shelf.copies("Emma");  // meanwhile other calls go on
  source.request_stop();
  std::cout << "cancelled: " << (cancelled.get_future().get() ? "True" : "False") << '\n';
  while (shelf.given_up() == 0) continue;
  std::cout << "the handler has stopped\n";
}
