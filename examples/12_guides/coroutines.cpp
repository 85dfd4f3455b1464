#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>

#include "library.hpp"
#include "mf/client/asio.hpp"

namespace asio = boost::asio;

namespace {

asio::awaitable<void> ask(const guide::ShelfClient& shelf) {
  for (const char* title : {"Emma", "Persuasion"}) {
    const mf::Outcome<std::uint32_t> outcome = co_await shelf.async_copies(title, asio::use_awaitable);
    std::cout << title << ": " << outcome.value() << '\n';  // value() throws what the call ended with
  }
  auto titles = shelf.titles();
  while (const auto next = (co_await titles.async_next(asio::use_awaitable)).value())
    std::cout << *next << '\n';
}

}  // namespace

int main() {
  Library library{"north"};
  mf::Client client(library.address());
  const auto shelf = guide::ShelfClient(client).at("north");
  asio::io_context loop;
  asio::co_spawn(loop, ask(shelf), asio::detached);
  loop.run();
}
