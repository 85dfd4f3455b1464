// The programs of the tests of replicated messages, of journal.mfidl or (JOURNAL_LATER) later.mfidl:
//
//   replicated replica CONTROLLER MEMBER MEMBERS MOST_ENTRIES
//     with the environment of support/peer_options.hpp, a replica that answers what it is asked on its
//     standard input, as journal_replica.py does
//   replicated client CONTROLLER CALLERS NAME [more]
//     so many callers, as in journal_client.py
#include <atomic>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <ranges>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "journal.client.hpp"
#include "mf/client/client.hpp"
#include "mf/replicated/replica.hpp"
#include "replicated/pages.hpp"
#include "support/peer_options.hpp"

namespace {

using namespace std::chrono_literals;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

template <class Values, class Write>
void write_list(const Values& values, Write write) {
  std::cout << '[';
  const char* comma = "";
  for (const auto& each : values) {
    std::cout << comma;
    write(each);
    comma = ", ";
  }
  std::cout << ']' << std::endl;
}

int replica(const std::string& controller, const std::string& member, const std::string& members,
            std::size_t most_entries) {
  const auto pages = std::make_shared<mftest::Pages>();
  mf::Replica replica(pages, {.controller = controller,
                              .member = member,
                              .members = split(members),
                              .agent = "a",
                              .listen = mftest::peer_listen(),
                              .tls = mftest::peer_tls(),
                              .access = mftest::peer_access(),
                              .settings = {.most_entries = most_entries}});
  replica.start();
  std::cout << member << std::endl;
  const auto said = [](bool value) { std::cout << (value ? "true" : "false") << std::endl; };
  for (std::string line; std::getline(std::cin, line);) {
    const auto state = pages->state();
    if (line == "texts") {
      write_list(state.kept, [](const std::string& text) { std::cout << '"' << text << '"'; });
    } else if (line == "versions") {
      write_list(std::views::iota(std::size_t{0}, state.epochs.size()), [&](std::size_t i) {
        std::cout << '[' << state.epochs[i] << ", " << state.counters[i] << ']';
      });
    } else if (line == "serves") {
      said(replica.until_serving(30s));
    } else if (line == "leads") {
      said(replica.leads());
    } else if (line == "reload") {
      said(replica.reload());
    } else if (line == "restored") {
      std::cout << pages->restored() << std::endl;
    } else if (line == "stuck") {
      std::cout << std::quoted(replica.stuck()) << std::endl;
    }
  }
  return 0;
}

/// The version of the message, and how many replicas have surely applied it.
using Ended = std::pair<mf::Version, std::size_t>;

Ended call(const journal::JournalClient& there, int pattern, const std::string& text) {
  const auto ended = [](const auto& done) { return Ended(done.version, done.applied.size()); };
  switch (pattern) {
    case 0:
      return ended(there.version_request(text));
    case 1:
      return ended(there.message_returns_version(text));
    case 2:
      return ended(there.one_hop(text));
    case 3:
#ifdef JOURNAL_LATER
      return ended(there.put("by a later client", text));
#else
      return ended(there.one_hop_ack_client(text));
#endif
    case 4:
      return ended(there.wait_for_version(text));
#ifdef JOURNAL_LATER
    case 6:
      return ended(there.more(text));
#endif
    default:
      return ended(there.chain(text));
  }
}

int client(const std::string& controller, int callers, const std::string& name, bool more) {
  mf::Client client(controller, {.tls = mftest::peer_tls()});
  const auto there = journal::JournalClient(client).at("a");
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      for (int number = 1; !stop; ++number) {
        const auto text = name + "." + std::to_string(caller) + "." + std::to_string(number);
        std::ostringstream line;
        line << R"({"text": ")" << text << '"';
        try {
          const auto [version, applied] = call(there, (caller + number) % (more ? 7 : 6), text);
          line << R"(, "epoch": )" << version.epoch << R"(, "counter": )" << version.counter
               << R"(, "applied": )" << applied << '}';
        } catch (const mf::Error& error) {
          line << R"(, "error": )" << std::quoted(error.what()) << '}';
        }
        const std::scoped_lock lock(mutex);
        std::cout << line.str() << std::endl;
      }
    });
  }
  std::string line;
  std::getline(std::cin, line);
  stop = true;
  for (auto& each : threads) each.join();
  std::cout << R"({"done": true})" << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "replica")
    return replica(arguments[1], arguments[2], arguments[3], std::stoul(arguments[4]));
  if (arguments.size() >= 4 && arguments[0] == "client")
    return client(arguments[1], std::stoi(arguments[2]), arguments[3], arguments.size() > 4);
  std::cerr << "replicated replica CONTROLLER MEMBER MEMBERS MOST_ENTRIES\n"
               "replicated client CONTROLLER CALLERS NAME [more]\n";
  return 2;
}
