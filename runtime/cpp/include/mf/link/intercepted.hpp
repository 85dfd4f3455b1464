// Handlers with interceptors around them: what servers and in-process calls have in common.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "mf/core/handler.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/link/method.hpp"
#include "mf/link/results.hpp"

namespace mf::link {

/// Those of a server or of a mf::Light; null: there are none.
using InterceptorsRef = const std::shared_ptr<const mf::detail::InterceptorList>*;

/// Requests that are there already.
[[nodiscard]] inline mf::detail::ArgumentSource given_items(Items requests) noexcept {
  return {.get = [](const void* source, std::shared_ptr<void>& /*kept*/) { return source; },
          .source = requests.first};
}

/// Copies the arguments of a call into a request when it is asked for. `make` returns it, and must stay: a
/// function and no tuple, since clang instantiates no tuple of more than 256 references.
template <class Make>
[[nodiscard]] mf::detail::ArgumentSource copied_request(const Make& make) noexcept {
  return {.get =
              [](const void* source, std::shared_ptr<void>& kept) {
                if (!kept) kept = (*static_cast<const Make*>(source))();
                return static_cast<const void*>(kept.get());
              },
          .source = &make};
}

/// A request with these arguments.
template <class M, class... Args>
[[nodiscard]] std::shared_ptr<void> request_of(const Args&... args) {
  using Request = typename M::Request;
  return {static_cast<void*>(new Request[1]{Request{args...}}), kRequestType<Request, M::kRequestTier>.drop};
}
/// Decodes the arguments of a call; null if they are invalid.
[[nodiscard]] inline std::shared_ptr<void> decoded_request(const RequestType& type, codec::Reader& reader) {
  std::shared_ptr<void> request(type.make(1), type.drop);
  return type.decode(reader, request.get(), 1) ? request : nullptr;
}

/// Passes on the answers of an asynchronous handler when those of all items are there: that of the only item
/// of a call, or Outcomes<Result>.
class ItemAnswers final : public mf::detail::Answers {
 public:
  ItemAnswers(std::unique_ptr<Results> into, bool single, AnswerDone done) noexcept
      : results_(std::move(into)), open_(results_->size()), single_(single), done_(std::move(done)) {}

  void answer(std::size_t item, void* outcome) override {
    ended([&] { results_->set(item, outcome); });
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    ended([&] { results_->fail(item, failure); });
  }

 private:
  template <class Set>
  void ended(Set set) {
    {
      const std::scoped_lock lock(mutex_);
      set();
      if (--open_ != 0) return;
    }
    done_(single_ ? results_->take(0) : results_->take_all());
  }

  std::mutex mutex_;
  const std::unique_ptr<Results> results_;
  std::size_t open_;
  const bool single_;
  AnswerDone done_;
};

}  // namespace mf::link
