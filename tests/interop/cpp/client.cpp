// interop-client (URL | light) WAIT: obeys the lines of its standard input, as programs/client.py does.
#include <atomic>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "checks.hpp"
#include "mf/light/light.hpp"
#include "modes.hpp"
#include "script.hpp"

namespace {

using namespace interop_test;
using interop::ShapesClient;

/// Calls one room again and again. The method is not idempotent, so no failure is hidden by a retry.
class Caller {
 public:
  explicit Caller(ShapesClient to) : to_(std::move(to)), thread_([this] { run(); }) {}

  void end() {
    stop_ = true;
    thread_.join();
    say({{"calls", std::to_string(calls_)}, {"failed", std::to_string(failed_)}, {"detail", text(first_)}});
  }

 private:
  void run() {
    while (!stop_) {
      const auto argument = static_cast<std::int32_t>(calls_++);
      const mf::Outcome<std::int64_t> expected(std::int64_t{argument} * 1'000'000'007);
      const auto problem = differ(expected, ended([&] { return to_.in1_out1(argument); }));
      if (!problem.empty() && failed_++ == 0) first_ = problem;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  ShapesClient to_;
  std::atomic<bool> stop_{false};
  std::uint32_t calls_ = 0;
  std::uint32_t failed_ = 0;
  std::string first_;
  std::thread thread_;
};

void tell(const std::string& room, const mf::Outcome<std::string>& outcome) {
  const bool right = outcome.ok() && outcome.value() == room;
  say({{"room", text(room)},
       {"ok", right ? "true" : "false"},
       {"code", text(outcome.ok() ? "" : mf::name(outcome.failure().code))},
       {"execution", text(outcome.ok() ? "" : mf::name(outcome.failure().execution))},
       {"detail", text(outcome.ok() ? "" : shown(outcome.failure()))}});
}

void tell_all(const mf::Outcome<mf::Scattered<std::string>>& outcome) {
  if (!outcome.ok()) {
    tell("", outcome.failure());
    return;
  }
  for (const auto& each : outcome.value()) tell(each.agent, each.outcome);
}

std::vector<std::string> split(const std::string& rooms) {
  std::vector<std::string> all;
  std::istringstream parts(rooms);
  for (std::string each; std::getline(parts, each, ',');) all.push_back(each);
  return all;
}

std::string slowly(const ShapesClient& to) {
  (void)to.slow(60'000, {.deadline = std::chrono::seconds(30)});
  return "";
}

/// As slowly(), of each room or item.
template <class T>
mf::Outcome<std::string> without_value(const mf::Outcome<T>& outcome) {
  if (!outcome.ok()) return outcome.failure();
  return std::string();
}

void tell_scattered_slowly(const ShapesClient& stub, const std::string& rooms) {
  const auto scattered = stub.on(split(rooms)).slow(60'000, {.deadline = std::chrono::seconds(5)});
  for (const auto& each : scattered) tell(each.agent, without_value(each.outcome));
}

/// The first item ends at once; each is a message of its own, and at most four are under way.
void tell_batch_slowly(const ShapesClient& stub, std::size_t count) {
  std::vector<interop::ShapesSlowRequest> items(count, interop::ShapesSlowRequest{60'000});
  items.front() = interop::ShapesSlowRequest{0};
  auto batch = stub.slow_batch(items, {.deadline = std::chrono::seconds(30), .size = 1, .window = 4});
  for (const auto& outcome : batch.results()) tell("", without_value(outcome));
}

mf::Client open_client(const std::string& where, double wait) {
  if (where != "light") {
    const auto seconds = std::chrono::duration<double>(wait);
    return mf::Client(where,
                      {.wait_for_server = std::chrono::duration_cast<std::chrono::nanoseconds>(seconds)});
  }
  mf::Light light;
  for (const auto& name : kRooms) light.offer(std::make_shared<Room>(name), {.agent = name});
  return mf::Client(light);
}

bool obey(mf::Client& client, std::unique_ptr<Caller>& caller, const std::string& command,
          const std::string& argument) {
  const ShapesClient stub(client);
  if (command == "script") {
    Script(client, argument).run();
  } else if (command == "who") {
    tell(argument, ended([&] { return stub.at(argument).who(); }));
  } else if (command == "slow") {
    tell(argument, ended([&] { return slowly(stub.at(argument)); }));
  } else if (command == "slow_on") {
    tell_scattered_slowly(stub, argument);
  } else if (command == "slow_batch") {
    tell_batch_slowly(stub.at("red"), std::stoul(argument));
  } else if (command == "on") {
    tell_all(ended([&] { return stub.on(split(argument)).who(); }));
  } else if (command == "everywhere") {
    tell_all(ended([&] { return stub.everywhere().who(); }));
  } else if (command == "begin") {
    caller = std::make_unique<Caller>(stub.at(argument));
  } else if (command == "end" && caller) {
    caller->end();
  } else {
    return false;
  }
  say({{"done", "true"}});
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto client = open_client(argv[1], std::stod(argv[2]));
  std::unique_ptr<Caller> caller;
  for (std::string line; std::getline(std::cin, line);) {
    const auto space = line.find(' ');
    if (!obey(client, caller, line.substr(0, space),
              space == std::string::npos ? "" : line.substr(space + 1))) {
      std::cerr << "interop-client: '" << line << "' is no command\n";
      return 2;
    }
  }
}
