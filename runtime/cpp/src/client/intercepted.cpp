#include "mf/client/intercepted.hpp"

#include <algorithm>

#include "mf/client/core.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/failure.hpp"

namespace mf::client {
namespace {

class BlockingOnward final : public mf::detail::Onward {
 public:
  using Next = ClientWay::Next;

  BlockingOnward(ClientWay& way, FunctionRef<Answer(const Next&)> go_on,
                 FunctionRef<void(const Next&, AnswerDone, const std::stop_token&)> start) noexcept
      : way_(way), go_on_(go_on), start_(start) {}

 private:
  [[nodiscard]] mf::detail::Intercepting& way() noexcept override { return way_; }
  Answer go_on() override {
    Answer answer;
    way_.next([&](const Next& next) { answer = go_on_(next); });
    return answer;
  }
  void go_on_later(AnswerDone done, const std::stop_token& stop) override {
    way_.next([&](const Next& next) { start_(next, std::move(done), stop); });
  }

  [[nodiscard]] bool may_wait() const override { return !way_.on_completing_thread(); }

  ClientWay& way_;
  FunctionRef<Answer(const Next&)> go_on_;
  FunctionRef<void(const Next&, AnswerDone, const std::stop_token&)> start_;
};

}  // namespace

ClientWay::ClientWay(const Target& target, const CallOptions& options, const MethodInfo& info, CallKind kind,
                     std::size_t items)
    : Intercepting(*target.interceptors(), target.service(), target.agent_text(), info, kind, items, nullptr),
      target_(&target),
      options_(options),
      facts_(std::shared_ptr<void>(), &own_facts_) {}

void ClientWay::begin() {
  const auto made = mf::now();
  deadline_ = std::min(deadline_after(made, effective_deadline(options_.deadline, call.info().deadline)),
                       current_call().deadline);
  call.deadline = deadline_;
  if (!options_.metadata.empty()) call.metadata = options_.metadata;
  if (const auto refused = Intercepting::begin(made, &mf::detail::interceptor_failure)) refused->raise();
}

void ClientWay::next(FunctionRef<void(const Next&)> use) {
  // The first request has the time of the call itself; what was given stays where nothing was changed.
  const bool first = !went_on_.exchange(true);
  const bool changed = call.deadline != deadline_ || call.metadata != options_.metadata;
  const auto made = first ? call.began() : mf::now();
  if (first && !changed) return use({.options = options_, .made = made, .facts = &facts_});
  CallOptions options = options_;
  options.metadata = call.metadata;
  if (!first || call.deadline != deadline_)
    options.deadline = call.deadline == kNever ? kInfinite : call.deadline - made;
  use({.options = options, .made = made, .facts = &facts_});
}

void ClientWay::share_facts() {
  facts_ = std::make_shared<CallFacts>();
}

Answer ClientWay::run_around(FunctionRef<Answer(const Next&)> go_on, Start start) {
  BlockingOnward onward(*this, go_on, start);
  try {
    return onward.run();
  } catch (...) {
    fail_with(mf::detail::interceptor_failure());
    throw;
  }
}

void ClientWay::run(const mf::detail::OutcomeType& type, void* outcome, GoOn go_on, Start start) {
  if (has_around()) {
    share_facts();
    const auto answer = [&](const Next& now) { return type.answer([&](void* into) { go_on(now, into); }); };
    type.put(outcome, run_around(answer, start));
  } else {
    next([&](const Next& now) { go_on(now, outcome); });
  }
  end_with(type.end(outcome));
}

Answer ClientWay::run(FunctionRef<Answer(const Next&)> go_on) {
  if (has_around()) {
    share_facts();
    return run_around(
        go_on, [&](const Next& now, AnswerDone done, const std::stop_token& /*stop*/) { done(go_on(now)); });
  }
  Answer answer;
  next([&](const Next& now) { answer = go_on(now); });
  return answer;
}

void ClientWay::end_with(CallEnd&& how) noexcept {
  facts_->write_to(how);
  Intercepting::end(std::move(how));
}

void ClientWay::end(const ItemOutcomes& outcomes) noexcept {
  CallEnd how;
  how.outcomes = &outcomes;
  end_with(std::move(how));
}

void ClientWay::fail_with(const Failure& failure) noexcept {
  CallEnd how;
  how.code = failure.code;
  how.failure = &failure;
  end_with(std::move(how));
}

void ClientWay::note_failure(const Failure& failure) {
  const std::scoped_lock lock(mutex_);
  noted_ = failure;
}

void ClientWay::give_up() noexcept {
  if (ended()) return;
  std::optional<Failure> noted;
  {
    const std::scoped_lock lock(mutex_);
    noted = noted_;
  }
  fail_with(noted ? *noted : cancelled_by_caller(Execution::unknown));
}

bool ClientWay::on_completing_thread() const {
  return !target_->in_process() && target_->core()->reactor().on_own_thread();
}

void ClientWay::keep_target() {
  core_ = target_->core();
  make_lasting();
  share_facts();
}

LaterWay::LaterWay(const Target& target, const CallOptions& options, const MethodInfo& info, CallKind kind,
                   const void* result, AnswerDone done, std::stop_token stop)
    : target_(target),
      options_(options),
      result_(result),
      done_(std::move(done)),
      stop_(std::move(stop)),
      way_(target_, options_, info, kind, 1) {}

void LaterWay::begin() {
  try {
    way_.begin();
  } catch (...) {
    return done_(mf::detail::interceptor_failure());
  }
  const auto self = std::static_pointer_cast<LaterWay>(shared_from_this());
  AnswerDone done([self](Answer&& answer) { self->finish(std::move(answer)); });
  if (way_.has_around()) return start(std::move(done));
  way_.next([&](const ClientWay::Next& next) { make(next, std::move(done), stop_, true); });
}

Answer LaterWay::go_on() {
  return may_have_run(Code::internal,
                      "an interceptor waits in call_async(): use proceed.start() there, not proceed()");
}

void LaterWay::go_on_later(AnswerDone done, const std::stop_token& stop) {
  if (!stop.stop_possible())
    return way_.next([&](const ClientWay::Next& next) { make(next, std::move(done), stop_, false); });
  auto either = std::make_shared<mf::detail::EitherStop>(stop, stop_);
  const auto stopped = either->token();
  AnswerDone both([either = std::move(either), done = std::move(done)](Answer&& answer) mutable {
    done(std::move(answer));
  });
  way_.next([&](const ClientWay::Next& next) { make(next, std::move(both), stopped, false); });
}

void LaterWay::finish(Answer&& answer) {
  answer.require(result_);
  way_.end_with(mf::detail::end_of(answer));
  const mf::detail::InsideInterceptors outside(nullptr);
  done_(std::move(answer));
}

namespace detail {

Gathered copied(const Gathered& payload) {
  Gathered copy;
  copy.buffer.append(payload.buffer.span());
  copy.pieces = payload.pieces;
  return copy;
}

Buffer in_one_piece(const Gathered& payload) {
  Buffer whole;
  std::size_t at = 0;
  for (const auto& piece : payload.pieces) {
    whole.append(payload.buffer.span().subspan(at, piece.at - at));
    whole.append(piece.bytes.span());
    at = piece.at;
  }
  whole.append(payload.buffer.span().subspan(at));
  return whole;
}

}  // namespace detail

}  // namespace mf::client
