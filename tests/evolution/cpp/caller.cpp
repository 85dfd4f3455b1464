// Calls the service of tests/evolution/forms/mid.mfidl in every form: what tests/evolution/callers.py has for
// Python. Each line of standard input is a command, words between spaces; each is answered by lines of JSON
// and
// {"done": true}.
//
//   connect ADDRESS       a client, in the place of the one before
//   WAY METHOD NUMBER...  a request for each number: how each has ended, or what was thrown for all of them
//
// WAY: call, async (both with the first number alone), batch, bulk.
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "forms.hpp"
#include "mf/client/call.hpp"
#include "mf/client/client.hpp"
#include "say.hpp"

namespace {

using interop_test::say;
using interop_test::text;
using mf::client::Target;

const mf::CallOptions kOptions{.deadline = std::chrono::seconds(20)};

void tell(const mf::Failure& failure, bool thrown) {
  say({{"code", text(mf::name(failure.code))},
       {"execution", text(mf::name(failure.execution))},
       {"message", text(failure.message)},
       {"thrown", thrown ? "true" : "false"}});
}

template <class Result>
void tell(const mf::Outcome<Result>& outcome) {
  outcome.ok() ? say({{"code", text("OK")}}) : tell(outcome.failure(), false);
}

template <class M, class... Args>
void run(const Target& target, const std::string& way, const std::vector<typename M::Request>& requests,
         const Args&... first) {
  if (way == "call") {
    (void)mf::client::call<M>(target, kOptions, first...);
    return say({{"code", text("OK")}});
  }
  if (way == "async") {
    if constexpr (!M::kInfo.oneway) {
      std::promise<mf::Outcome<typename M::Result>> ended;
      mf::client::start<M>(
          target, kOptions,
          [&](mf::Outcome<typename M::Result> outcome) { ended.set_value(std::move(outcome)); }, first...);
      return tell(ended.get_future().get());
    }
  }
  const auto outcomes =
      way == "bulk" ? mf::client::bulk<M>(target, kOptions, requests)
                    : mf::client::batch<M>(target, {.deadline = kOptions.deadline}, requests).results();
  for (const auto& each : outcomes) tell(each);
}

void run(const Target& target, const std::vector<std::string>& words) {
  using namespace forms::methods;
  const auto& way = words.at(0);
  const auto& method = words.at(1);
  std::vector<forms::Item> items;
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = 2; at < words.size(); ++at) {
    numbers.push_back(static_cast<std::uint32_t>(std::stoul(words[at])));
    items.push_back({.id = numbers.back(), .title = words[at]});
  }
  if (method == "echo") {
    std::vector<FormsEcho::Request> all;
    for (const auto& item : items) all.push_back({.item = item});
    return run<FormsEcho>(target, way, all, items.front());
  }
  if (method == "note") {
    std::vector<FormsNote::Request> all;
    for (const auto& item : items) all.push_back({.item = item});
    return run<FormsNote>(target, way, all, items.front());
  }
  if (method == "apart") {
    std::vector<FormsApart::Request> all;
    for (const auto number : numbers) all.push_back({.x = number});
    return run<FormsApart>(target, way, all, numbers.front());
  }
  if (method == "gone") return run<FormsGone>(target, way, std::vector<FormsGone::Request>(numbers.size()));
  if (method == "come") return run<FormsCome>(target, way, std::vector<FormsCome::Request>(numbers.size()));
  throw std::out_of_range("there is no method " + method);
}

}  // namespace

int main() {
  std::unique_ptr<mf::Client> client;
  std::unique_ptr<Target> target;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    try {
      if (words.at(0) == "connect") {
        target.reset();
        client = std::make_unique<mf::Client>(words.at(1), mf::ClientOptions{.log = mf::Log(mf::Level::off)});
        target = std::make_unique<Target>(*client, forms::methods::kFormsService);
      } else {
        run(*target, words);
      }
    } catch (const mf::Error& error) {
      tell({.code = error.code(), .execution = error.execution(), .message = error.message(), .declared = {}},
           true);
    } catch (const std::exception& error) {
      say({{"wrong", text(error.what())}});
    }
    say({{"done", "true"}});
  }
}
