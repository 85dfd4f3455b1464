// A shape in every mode, whatever its method: the part of the script that is templates. What depends on the
// type of the results alone is a function of its own: there are half as many of them as of methods, in five
// modes each.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "mf/core/failure.hpp"
#include "script.hpp"

namespace interop_test {

inline constexpr std::size_t kBatch = 10;
inline constexpr std::chrono::seconds kPatience{40};  // longer than any deadline here

/// function(all fields of the request)
template <std::size_t kInputs, class Function, class Request>
decltype(auto) unpack(Function&& function, const Request& request) {
  if constexpr (kInputs == 0) {
    return function();
  } else if constexpr (kInputs == 1) {
    const auto& [a] = request;
    return function(a);
  } else if constexpr (kInputs == 2) {
    const auto& [a, b] = request;
    return function(a, b);
  } else if constexpr (kInputs == 3) {
    const auto& [a, b, c] = request;
    return function(a, b, c);
  } else if constexpr (kInputs == 4) {
    const auto& [a, b, c, d] = request;
    return function(a, b, c, d);
  } else if constexpr (kInputs == 5) {
    const auto& [a, b, c, d, e] = request;
    return function(a, b, c, d, e);
  } else {
    const auto& [a, b, c, d, e, f] = request;
    return function(a, b, c, d, e, f);
  }
}

/// What the rules say, with failures as a caller sees them.
template <class M>
mf::Outcome<typename M::Result> expect(Room& room, const typename M::Request& request) {
  try {
    if constexpr (std::is_void_v<typename M::Result>) {
      M::invoke(room, request);
      return {};
    } else {
      return M::invoke(room, request);
    }
  } catch (const mf::DeclaredError& error) {
    return error;
  } catch (const std::exception& error) {
    return mf::may_have_run(mf::Code::handler_failed, error.what());
  }
}

/// How a client's call ended.
template <class Call>
auto ended(Call&& call) -> mf::Outcome<std::invoke_result_t<Call&>> {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const mf::Error& error) {
    return error;
  } catch (const mf::DeclaredError& error) {
    return error;
  }
}

/// `begin(token)` starts a call; its outcome, with patience.
template <class T, class Begin>
std::future<mf::Outcome<T>> begun(Begin begin) {
  const auto promise = std::make_shared<std::promise<mf::Outcome<T>>>();
  begin([promise](mf::Outcome<T> outcome) { promise->set_value(std::move(outcome)); });
  return promise->get_future();
}

template <class T>
mf::Outcome<T> awaited(std::future<mf::Outcome<T>>& future) {
  if (future.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("it never completed");
  return future.get();
}

template <class T>
mf::Outcomes<T> all_awaited(std::vector<std::future<mf::Outcome<T>>>& futures) {
  mf::Outcomes<T> got;
  for (auto& future : futures) got.push_back(awaited(future));
  return got;
}

template <class Request>
std::vector<Request> repeated(const std::vector<Request>& requests, std::size_t count) {
  std::vector<Request> many;
  for (std::size_t i = 0; i < count; ++i) many.push_back(requests[i % requests.size()]);
  return many;
}

/// One check: what the rules say, then what `run` gives, then the notes that both left.
template <class Result>
void Script::compare(std::string_view mode, const std::string& what, const std::string& method,
                     const std::string& agent, Ends<Result> expected, Ends<Result> run) {
  check(what, mode, [&] {
    const auto as_ruled = expected();
    auto problem = differ_all(as_ruled, run());
    return problem.empty() ? notes(method, agent) : problem;
  });
}

template <class M, std::size_t kInputs, class Call, class Start, class Batch, class Bulk>
void Script::shape(const std::string& name, const std::vector<typename M::Request>& requests, Call call,
                   Start start, Batch batch, Bulk bulk) {
  using Result = typename M::Result;
  const auto many = repeated(requests, kBatch);
  for (const auto& agent : kRooms) {
    const auto to = stub_.at(agent);
    const auto ruled = [&](const auto& with) {
      mf::Outcomes<Result> ends;
      for (const auto& request : with) ends.push_back(expect<M>(room(agent), request));
      return ends;
    };
    const auto one_by_one = [&] { return ruled(requests); };
    const auto all = [&] { return ruled(many); };
    const auto what = name + " " + agent;
    compare<Result>("single", what, name, agent, one_by_one, [&] {
      mf::Outcomes<Result> got;
      for (const auto& request : requests) {
        got.push_back(ended([&] {
          return unpack<kInputs>([&](const auto&... fields) { return call(to, fields...); }, request);
        }));
      }
      return got;
    });
    compare<Result>("async", what, name, agent, all, [&] {
      std::vector<std::future<mf::Outcome<Result>>> futures;
      for (const auto& request : many) {
        futures.push_back(begun<Result>([&](auto token) {
          unpack<kInputs>([&](const auto&... fields) { start(to, token, fields...); }, request);
        }));
      }
      return all_awaited(futures);
    });
    compare<Result>("batch", what, name, agent, all,
                    [&] { return (to.*batch)(many, {.size = 3, .window = 2}).results(); });
    compare<Result>("batch", what + ", default size", name, agent, all,
                    [&] { return (to.*batch)(many, {}).results(); });
    compare<Result>("bulk", what, name, agent, all, [&] { return (to.*bulk)(many, {}); });
  }
  scatter<M, kInputs>(name, "on", requests, call);
  if (way_ != "direct") scatter<M, kInputs>(name, "everywhere", requests, call);
}

template <class M, std::size_t kInputs, class Call>
void Script::scatter(const std::string& name, std::string_view mode,
                     const std::vector<typename M::Request>& requests, Call call) {
  using Result = typename M::Result;
  check(name, mode, [&]() -> std::string {
    for (const auto& request : requests) {
      const auto target = mode == "on" ? stub_.on(kRooms) : stub_.everywhere();
      const mf::Scattered<Result> got =
          unpack<kInputs>([&](const auto&... fields) { return call(target, fields...); }, request);
      auto problem = differ_anywhere<Result>(
          name, got, [&](const std::string& agent) { return expect<M>(room(agent), request); });
      if (!problem.empty()) return problem;
    }
    return {};
  });
}

/// One outcome of every room, and each as `expected` says.
template <class Result>
std::string Script::differ_anywhere(const std::string& method, const mf::Scattered<Result>& got,
                                    mf::FunctionRef<mf::Outcome<Result>(const std::string&)> expected) {
  if (got.size() != kRooms.size()) return std::to_string(got.size()) + " agents";
  for (const auto& agent : kRooms) {
    const auto found =
        std::find_if(got.begin(), got.end(), [&](const auto& each) { return each.agent == agent; });
    if (found == got.end()) return "no outcome of " + agent;
    auto problem = differ(expected(agent), found->outcome);
    if (problem.empty()) problem = notes(method, agent);
    if (!problem.empty()) return agent + ": " + problem;
  }
  return {};
}

}  // namespace interop_test
