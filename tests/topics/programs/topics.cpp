// The programs of the tests of topics, as publisher.py and subscriber.py beside this, whose headers say what
// they answer:
//
//   topics publisher LISTEN [CONTROLLER]          with the environment of support/peer_options.hpp
//   topics subscriber ADDRESS TOPIC AGENTS OVERFLOW MESSAGES [CA [IDENTITY]]
#include <sys/resource.h>

#include <iostream>
#include <map>
#include <memory>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "events.topics.hpp"
#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "support/peer_options.hpp"

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

std::string figures(const mf::PublisherStats& stats) {
  std::ostringstream out;
  out << R"({"published": {)";
  const char* comma = "";
  for (const auto& each : stats.agents) {
    out << comma << '"' << each.agent << "\": " << each.published;
    comma = ", ";
  }
  out << R"(}, "subscriptions": [)";
  comma = "";
  for (const auto& each : stats.subscriptions) {
    out << comma << '[' << each.delivered << ", " << each.dropped << ", " << each.queued << ']';
    comma = ", ";
  }
  out << R"(], "encoded": )" << stats.encoded << R"(, "cut": )" << stats.cut << '}';
  return out.str();
}

std::string words_of(const mf::Error& error) {
  std::string escaped;
  for (const char each : error.message()) {
    if (each == '"' || each == '\\') escaped += '\\';
    escaped += each;
  }
  return "[\"" + std::string(name(error.code())) + "\", \"" + escaped + "\"]";
}

template <class Publish>
std::string tried(Publish&& publish) {
  try {
    publish();
  } catch (const mf::Error& error) {
    return words_of(error);
  }
  return "null";
}

template <class Condition>
const char* eventually(Condition&& holds) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!holds() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
  return holds() ? "true" : "false";
}

/// The most bytes that this process had so far.
long memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

auto documents(std::uint32_t first, std::uint32_t count, std::size_t size) {
  return std::views::iota(first, first + count) | std::views::transform([size](std::uint32_t doc) {
           return events::Indexed{.doc = doc, .title = std::string(size, 'x')};
         });
}

int publisher(const std::string& listen, const std::string& controller) {
  auto topics = std::make_unique<mf::Topics>(mf::TopicsOptions{.stall_timeout = 2s});
  events::AdditionsPublisher additions(*topics);
  events::OrdersPublisher orders(*topics);
  mf::ServerOptions options{.listen = listen, .controller = controller, .drain_timeout = 1s};
  mftest::secure(options);
  mf::Server server(std::move(options));
  server.offer(*topics);
  server.start();
  std::cout << server.address().str() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command;
    std::string name;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::size_t size = 0;
    in >> command;
    if (command == "publish") {
      in >> name >> first >> count >> size;
      additions.at(name).publish_all(documents(first, count, size));
      std::cout << count;
    } else if (command == "order") {
      in >> first >> count >> size;
      orders.publish_all(documents(first, count, size));
      std::cout << count;
    } else if (command == "late") {
      std::int64_t patience = 0;
      in >> name >> count >> size >> patience;
      std::cout << tried([&] {
        additions.at(name).publish_all(documents(0, count, size),
                                       {.deadline = std::chrono::milliseconds(patience)});
      });
    } else if (command == "peers") {
      std::cout << '[';
      const char* comma = "";
      for (const auto& each : additions.stats().subscriptions) {
        std::cout << comma << "[\"" << mf::topics::name(each.overflow) << "\", \"" << each.peer << "\", \""
                  << each.agents << "\"]";
        comma = ", ";
      }
      std::cout << ']';
    } else if (command == "await") {
      in >> name >> count;
      const bool came = name == "Additions" ? additions.await_subscribers(count, kPatience)
                                            : orders.await_subscribers(count, kPatience);
      std::cout << (came ? "true" : "false");
    } else if (command == "close") {
      topics.reset();
      std::cout << "null";
    } else if (command == "try") {
      in >> name;
      std::cout << tried([&] { additions.at(name).publish({.doc = 1, .title = "one"}); });
    } else if (command == "stats") {
      std::cout << '[' << figures(additions.stats()) << ", " << figures(orders.stats()) << ']';
    } else {
      std::cout << memory();
    }
    std::cout << std::endl;
  }
  return 0;
}

/// Both topics have values of the same type.
template <class Subscriber>
int serve(Subscriber&& subscriber) {
  std::cout << "subscribed" << std::endl;
  std::map<std::pair<mf::Uuid, std::string>, std::uint64_t> next_of;
  bool in_order = true;
  const auto comes = [&](const mf::Uuid& publisher, const std::string& agent, std::uint64_t first,
                         std::uint64_t count) {
    auto& next = next_of.try_emplace({publisher, agent}, first).first->second;
    in_order = in_order && next == first;
    next = first + count;
  };
  const auto missed = [&] {
    const auto stats = subscriber.stats();
    return stats.dropped + stats.not_kept + stats.upstream;
  };
  const auto take = [&](std::chrono::nanoseconds timeout) {
    auto message = subscriber.poll(timeout);
    if (message) comes(message->publisher(), message->agent(), message->sequence(), 1);
    return message;
  };
  subscriber.on_gap([&](const mf::Gap& gap) { comes(gap.publisher, gap.agent, gap.first, gap.count); });
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command;
    std::uint64_t count = 0;
    in >> command >> count;
    if (command == "take") {
      std::cout << '[';
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto message = take(kPatience);
        if (!message) return 1;
        std::cout << (i == 0 ? "" : ", ") << "[\"" << message->agent() << "\", " << message->sequence()
                  << ", " << message->value().doc << ", " << message->missed() << ']';
      }
      std::cout << ']';
    } else if (command == "values") {
      std::cout << '[';
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto message = take(kPatience);
        if (!message) return 1;
        std::cout << (i == 0 ? "" : ", ") << "[\"" << message->agent() << "\", " << message->sequence()
                  << ", ";
        try {
          std::cout << message->value().doc << ']';
        } catch (const mf::Error& error) {
          std::cout << '"' << name(error.code()) << "\"]";
        }
      }
      std::cout << ']';
    } else if (command == "next") {
      try {
        const auto message = subscriber.next(std::chrono::milliseconds(count));
        std::cout << "[\"" << message.agent() << "\", " << message.sequence() << ']';
      } catch (const mf::Error& error) {
        std::cout << words_of(error);
      }
    } else if (command == "close") {
      subscriber.close();
      std::cout << "null";
    } else if (command == "account") {
      const auto until = std::chrono::steady_clock::now() + kPatience;
      while (subscriber.stats().received + missed() < count && std::chrono::steady_clock::now() < until)
        (void)take(50ms);
      std::cout << R"({"received": )" << subscriber.stats().received << R"(, "missed": )" << missed()
                << R"(, "in_order": )" << (in_order ? "true" : "false") << '}';
    } else if (command == "publishers") {
      std::cout << (subscriber.await_publishers(count, kPatience) ? "true" : "false");
    } else if (command == "left") {
      std::cout << eventually([&] { return subscriber.stats().publishers <= count; });
    } else if (command == "cut") {
      std::cout << eventually([&] { return subscriber.stats().cut >= count; });
    } else if (command == "memory") {
      std::cout << memory();
    } else {
      const auto stats = subscriber.stats();
      std::cout << R"({"received": )" << stats.received << R"(, "dropped": )" << stats.dropped
                << R"(, "not_kept": )" << stats.not_kept << R"(, "upstream": )" << stats.upstream
                << R"(, "duplicates": )" << stats.duplicates << R"(, "undecodable": )" << stats.undecodable
                << R"(, "cut": )" << stats.cut << R"(, "publishers": )" << stats.publishers << '}';
    }
    std::cout << std::endl;
  }
  return 0;
}

int subscriber(const std::string& address, const std::string& topic, const std::string& agents,
               const std::string& overflow, const std::string& messages, const std::string& authorities,
               const std::string& identity) {
  mf::SubscribeOptions options{.max_messages = static_cast<std::uint32_t>(std::stoul(messages))};
  if (!mf::topics::from_name(overflow, options.overflow.emplace())) return 2;
  mf::ClientOptions of_client;
  of_client.tls.ca = authorities;
  for (const char each : identity) of_client.authentication.push_back(static_cast<std::byte>(each));
  mf::Client client(address, of_client);
  try {
    if (topic == "Additions") return serve(events::AdditionsSubscriber(client, agents, options));
    return serve(events::OrdersSubscriber(client, options));
  } catch (const mf::Error& error) {
    std::cout << words_of(error) << std::endl;
    return 0;
  }
}

}  // namespace

int main(int count, char** given) {
  const std::vector<std::string> arguments(given, given + count);
  if (count >= 3 && arguments[1] == "publisher")
    return publisher(arguments[2], count > 3 ? arguments[3] : "");
  if (count >= 7 && count <= 9 && arguments[1] == "subscriber")
    return subscriber(arguments[2], arguments[3], arguments[4], arguments[5], arguments[6],
                      count > 7 ? arguments[7] : "", count > 8 ? arguments[8] : "");
  std::cerr
      << "usage: topics publisher LISTEN [CONTROLLER] | topics subscriber ADDRESS TOPIC AGENTS OVERFLOW "
         "MESSAGES\n";
  return 2;
}
