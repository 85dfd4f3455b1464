// A servant that answers from a script, without a class of its own, and a recorder of what it was called
// with.
//
//   using namespace shop::methods;                                  shop.hpp, generated
//   mf::testing::Recorder recorder;
//   auto script = std::make_shared<mf::testing::Script<ShopMethod>>(&recorder);
//   script->on<ShopPrice>([](const auto& request) { return request.item == "tea" ? 3u : 5u; });
//   mf::testing::Channel channel(script);
//   …
//   EXPECT_EQ(recorder.calls()[0].request<ShopPrice>().item, "tea");
//
// A method without an answer fails as HANDLER_FAILED; one with a stream needs a servant of its own.
#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/core/metadata.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/servant.hpp"
#include "mf/server/run.hpp"

namespace mf::testing {

/// One call of one item; each item of a batch is one.
struct Call {
  std::string service;
  std::string agent;
  std::string method;
  std::any arguments;  // the generated request
  Code code = Code::ok;
  std::string message;  // of a failure
  /// That were left when it began; none: no deadline.
  std::optional<std::chrono::nanoseconds> deadline;
  Metadata metadata;

  /// Throws std::bad_any_cast if it is a call of another method.
  template <class M>
  [[nodiscard]] const typename M::Request& request() const {
    return std::any_cast<const typename M::Request&>(arguments);
  }
};

/// Calls in the order in which they began. Thread-safe.
class Recorder {
 public:
  [[nodiscard]] std::vector<Call> calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return calls_.size();
  }
  /// Of their methods: "shop.Shop.price".
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& call : calls()) names.push_back(call.service + "." + call.method);
    return names;
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    calls_.clear();
    ++generation_;
  }

  /// Runs a handler and keeps how it ended.
  template <class M, class Handler>
  typename M::Result run(const typename M::Request& request, Handler handler) {
    const auto place = begin({.service = std::string(M::kService.name),
                              .agent = std::string(current_call().agent),
                              .method = std::string(M::kInfo.name),
                              .arguments = request,
                              .code = Code::ok,
                              .message = {},
                              .deadline = left(),
                              .metadata = current_call().metadata()});
    try {
      return handler(request);
    } catch (...) {
      const auto failure = mf::detail::handler_failure();
      end(place, failure);
      throw;
    }
  }

 private:
  struct Place {
    std::uint64_t generation;
    std::size_t index;
  };

  static std::optional<std::chrono::nanoseconds> left() {
    const auto deadline = current_call().deadline;
    return deadline == kNever ? std::nullopt : std::optional<std::chrono::nanoseconds>(deadline - now());
  }
  Place begin(Call call) {
    const std::scoped_lock lock(mutex_);
    calls_.push_back(std::move(call));
    return {.generation = generation_, .index = calls_.size() - 1};
  }
  void end(Place place, const Failure& failure) {
    const std::scoped_lock lock(mutex_);
    if (place.generation != generation_) return;
    calls_[place.index].code = failure.code;
    calls_[place.index].message = failure.message;
  }

  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  std::uint64_t generation_ = 0;
};

/// `Service`: what the generated methods of one derive from, as shop::methods::ShopMethod.
template <class Service>
class Script final : public Servant {
 public:
  explicit Script(Recorder* recorder = nullptr) : recorder_(recorder) {}

  /// How a method is answered: by what `answer(request)` returns or throws. Before the servant is offered.
  template <class M, class Answer>
  Script& on(Answer answer) {
    static_assert(std::is_base_of_v<Service, M>, "a method of another service");
    static_assert(M::kInfo.streams == Streams::none, "a method with a stream needs a servant of its own");
    answers_[M::kInfo.index] = [this, answer = std::function<typename M::Result(const typename M::Request&)>(
                                          std::move(answer))](server::Incoming& in) {
      Answering<M> servant{.answer = answer, .recorder = recorder_};
      server::run<Scripted<M>>(in, servant);
    };
    return *this;
  }
  /// As this servant answers it, which must outlive the script: what it is called with is recorded.
  template <class M>
  Script& pass_to(typename M::Servant& servant) {
    return on<M>([&servant](const typename M::Request& request) { return M::invoke(servant, request); });
  }

  [[nodiscard]] const ServiceInfo& service() const noexcept override { return Service::kService; }
  void dispatch(server::Incoming& in) override {
    const auto found = answers_.find(in.method());
    if (found != answers_.end()) return found->second(in);
    in.ticket().fail(Code::handler_failed, Execution::not_executed,
                     "the script has no answer for " + std::string(Service::kService.methods[in.method()]));
  }

 private:
  template <class M>
  struct Answering {
    const std::function<typename M::Result(const typename M::Request&)>& answer;
    Recorder* recorder;
  };
  template <class M>
  struct Scripted : M {
    using Servant = Answering<M>;
    using M::invoke;
    static typename M::Result invoke(Servant& servant, const typename M::Request& request) {
      if (servant.recorder == nullptr) return servant.answer(request);
      return servant.recorder->template run<M>(request, servant.answer);
    }
    static auto invoke_batch(Servant& servant, const typename M::Request* requests, std::size_t count) {
      return server::each<Scripted>(servant, {requests, count});
    }
  };

  Recorder* const recorder_;
  std::map<std::uint16_t, std::function<void(server::Incoming&)>> answers_;
};

}  // namespace mf::testing
