// Publishes and subscribes to the topic Items of one schema of tests/evolution/forms: what
// tests/evolution/items.py has for Python. Each line of standard input is a command, words between spaces;
// each is answered by lines of JSON and {"done": true}.
//
//   publish CONTROLLER    a publisher, which registers at the controller
//   give ID...            publishes items with these numbers, once there is a subscriber; titles are the same
//   subscribe ADDRESS     a subscriber, in the place of the one before
//   await COUNT           until so many publishers are connected to it
//   take COUNT            so many messages of it: a line for each
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "forms.topics.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "say.hpp"

namespace {

using interop_test::say;
using interop_test::text;

constexpr std::chrono::seconds kPatience{60};

class Items {
 public:
  void run(const std::vector<std::string>& words) {
    const auto& what = words.at(0);
    if (what == "publish") return publish(words.at(1));
    if (what == "subscribe") return subscribe(words.at(1));
    if (what == "give") {
      if (!publisher_->await_subscribers(1, kPatience)) throw std::runtime_error("there is no subscriber");
      for (std::size_t at = 1; at < words.size(); ++at) give(words[at]);
      return;
    }
    const auto count = std::stoul(words.at(1));
    if (what == "await" && !subscriber_->await_publishers(count, kPatience))
      throw std::runtime_error("there are fewer publishers");
    for (std::size_t i = 0; what == "take" && i < count; ++i) take();
  }

 private:
  void publish(const std::string& controller) {
    server_.emplace(mf::ServerOptions{
        .listen = "tcp://127.0.0.1:0", .controller = controller, .log = mf::Log(mf::Level::off)});
    server_->offer(topics_);
    publisher_.emplace(topics_);
    server_->start();
  }
  void give(const std::string& number) {
    forms::Item item;
    item.id = static_cast<decltype(item.id)>(std::stoul(number));
    item.title = number;
    publisher_->publish(item);
  }
  void subscribe(const std::string& address) {
    subscriber_.reset();
    client_ = std::make_unique<mf::Client>(address, mf::ClientOptions{.log = mf::Log(mf::Level::off)});
    subscriber_.emplace(*client_);
  }
  void take() {
    const auto message = subscriber_->next(kPatience);
    try {
      const auto& item = message.value();
      say({{"id", std::to_string(item.id)}, {"title", text(item.title)}});
    } catch (const mf::Error& error) {
      say({{"code", text(mf::name(error.code()))}, {"fault", text(error.message())}});
    }
  }

  mf::Topics topics_;
  std::optional<mf::Server> server_;
  std::optional<forms::ItemsPublisher> publisher_;
  std::unique_ptr<mf::Client> client_;
  std::optional<forms::ItemsSubscriber> subscriber_;
};

}  // namespace

int main() {
  Items items;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    try {
      items.run({std::istream_iterator<std::string>(words), {}});
    } catch (const std::exception& error) {
      say({{"wrong", text(error.what())}});
    }
    say({{"done", "true"}});
  }
}
