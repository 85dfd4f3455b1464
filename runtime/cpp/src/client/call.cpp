#include "mf/client/call.hpp"

#include <algorithm>
#include <chrono>

#include "client/batch.hpp"
#include "client/whole_failure.hpp"
#include "mf/client/intercepted.hpp"
#include "mf/core/failure.hpp"

namespace mf::client::detail {

protocol::RequestHead head_of(const link::BatchMethod& method, std::size_t count, std::uint8_t flags) {
  return {.route = 0,
          .tier = method.request.tier,
          .flags = flags,
          .count = static_cast<std::uint32_t>(count),
          .deadline = 0,
          .id = 0};
}

namespace {

/// Sends the items from `first` on in one message.
void send_message(link::ReplySlot& slot, const Target& target, const link::BatchMethod& method,
                  link::Items requests, std::size_t first, std::size_t count, const CallContext& context,
                  std::uint8_t flags) {
  const auto encode = [&](Gathered& payload) {
    method.request.encode(payload.buffer, requests, first, count);
  };
  target.call(slot, method.method.info, head_of(method, count, flags), encode, context);
}

/// Sends one-way calls now, in messages of `size` items; an outcome says whether its message was handed over.
void send_oneway_messages(const Target& target, const link::BatchMethod& method, link::Items requests,
                          std::size_t size, const CallContext& context, link::Results& results) {
  for (std::size_t first = 0; first < requests.count; first += size) {
    const auto count = std::min(size, requests.count - first);
    link::ReplySlot slot;
    send_message(slot, target, method, requests, first, count, context, 0);
    take_unsent(slot.reply, first, results);
    if (!slot.reply.local()) continue;
    const auto failure = mf::detail::shared(std::move(slot.reply.failure));
    for (std::size_t i = 0; i < count; ++i) results.fail(first + i, failure);
  }
}

std::shared_ptr<BatchState> batch_past(const Target& target, const link::BatchMethod& method,
                                       const BatchOptions& options, const CallOptions& call_options,
                                       TimePoint made, const std::shared_ptr<CallFacts>* facts,
                                       link::Items requests, std::unique_ptr<Decoder> decoder) {
  auto state = std::make_shared<Batch>(method, std::move(decoder));
  if (const auto local = target.local_batch()) {
    link::local_batch(method, local, call_options, requests, state->results());
    state->end();
    return state;
  }
  check_sent_requests(method, requests);
  const auto& info = method.method.info;
  const Context context(target, call_options, info, made, facts);
  auto sent = options;
  sent.size = std::max<std::uint32_t>(options.size != 0 ? options.size : info.batch_max, 1);
  if (info.oneway) {
    send_oneway_messages(target, method, requests, sent.size, context, state->results());
    state->end();
  } else if (auto route = target.route(info, context.deadline, options.stop)) {
    state->send(target, std::move(route).value(), requests, sent, context);
  } else {
    state->results().fail_all(mf::detail::shared(route.failure()));
    state->end();
  }
  return state;
}

/// A batch that ends for interceptors when its caller learns that it has, or drops it.
class InterceptedBatch final : public BatchState {
 public:
  InterceptedBatch(std::shared_ptr<ClientWay> way, std::shared_ptr<BatchState> inner) noexcept
      : way_(std::move(way)), inner_(std::move(inner)) {}
  InterceptedBatch(const InterceptedBatch&) = delete;
  InterceptedBatch& operator=(const InterceptedBatch&) = delete;
  ~InterceptedBatch() override {
    try {
      if (!way_->ended() && inner_->ready()) way_->end(inner_->results());
    } catch (const std::exception& error) {
      way_->note_failure(may_have_run(Code::internal, error.what()));
    }
    way_->give_up();
  }

  bool ready() override { return ended(inner_->ready()); }
  bool wait(std::chrono::nanoseconds timeout) override { return ended(inner_->wait(timeout)); }
  void finish() override {
    inner_->finish();
    way_->end(inner_->results());
  }
  void look(FunctionRef<void(std::span<const std::uint8_t>)> look) override { inner_->look(look); }
  [[nodiscard]] link::Results& results() noexcept override { return inner_->results(); }

 private:
  bool ended(bool whether) {
    if (whether) way_->end(inner_->results());
    return whether;
  }

  const std::shared_ptr<ClientWay> way_;
  const std::shared_ptr<BatchState> inner_;
};

CallOptions options_of_call(const BatchOptions& options) {
  return {.deadline = options.deadline, .metadata = options.metadata, .stop = options.stop};
}

std::shared_ptr<BatchState> batch_intercepted(const Target& target, const link::BatchMethod& method,
                                              const BatchOptions& options, link::Items requests,
                                              std::unique_ptr<Decoder> decoder) {
  const auto call_options = options_of_call(options);
  const auto way =
      std::make_shared<ClientWay>(target, call_options, method.method.info, CallKind::batch, requests.count);
  way->set_arguments(link::given_items(requests));
  way->keep_target();
  way->begin();
  auto answer = way->run([&](const ClientWay::Next& next) -> Answer {
    if (!decoder) return may_have_run(Code::internal, "`proceed` was used before: a batch is made once");
    const auto made = attempt([&] {
      return batch_past(target, method, options, next.options, next.made, next.facts, requests,
                        std::move(decoder));
    });
    return made.ok() ? Answer::shared(made.value()) : Answer(made.failure());
  });
  way->forget_arguments();
  auto* const state = answer.value<BatchState>();
  if (state == nullptr) {
    const auto failure = answer.ok() ? mf::detail::wrong_type_of_answer() : answer.failure();
    way->fail_with(failure);
    failure.raise();
  }
  auto watched = std::make_shared<InterceptedBatch>(way, std::move(answer).shared_value<BatchState>());
  if (requests.count == 0) (void)watched->ready();
  return watched;
}

}  // namespace

std::shared_ptr<BatchState> batch(const Target& target, const link::BatchMethod& method,
                                  const BatchOptions& options, link::Items requests,
                                  std::unique_ptr<Decoder> decoder) {
  if (target.is_intercepted())
    return batch_intercepted(target, method, options, requests, std::move(decoder));
  return batch_past(target, method, options, options_of_call(options), mf::now(), nullptr, requests,
                    std::move(decoder));
}

namespace {

void bulk_past(const Target& target, const link::BatchMethod& method, const CallOptions& options,
               TimePoint made, const std::shared_ptr<CallFacts>* facts, link::Items requests,
               Decoder& decoder) {
  const auto local = target.local_batch();
  if (requests.count == 0) return;
  if (local) return link::local_batch(method, local, options, requests, decoder.results);
  check_sent_requests(method, requests);
  const auto& info = method.method.info;
  const Context context(target, options, info, made, facts);
  link::ReplySlot slot;
  send_message(slot, target, method, requests, 0, requests.count, context, protocol::kBulk);
  if (const auto whole = whole_failure(method.method, slot.reply)) whole->raise();
  if (info.oneway) return take_unsent(slot.reply, 0, decoder.results);
  take_apart(method.method, slot.reply, 0, requests.count, decoder);
}

void bulk_intercepted(const Target& target, const link::BatchMethod& method, const CallOptions& options,
                      link::Items requests, Decoder& decoder) {
  ClientWay way(target, options, method.method.info, CallKind::bulk, requests.count);
  way.set_arguments(link::given_items(requests));
  way.begin();
  const auto go_on = [&](const ClientWay::Next& next) -> Answer {
    const auto done =
        attempt([&] { bulk_past(target, method, next.options, next.made, next.facts, requests, decoder); });
    return done.ok() ? decoder.results.take_all() : Answer(done.failure());
  };
  auto answer = way.run(go_on);
  if (!answer.ok()) {
    way.fail_with(answer.failure());
    answer.failure().raise();
  }
  decoder.results.put_all(requests.count, std::move(answer));
  way.end(decoder.results);
}

}  // namespace

void bulk(const Target& target, const link::BatchMethod& method, const CallOptions& options,
          link::Items requests, Decoder& decoder) {
  if (target.is_intercepted()) return bulk_intercepted(target, method, options, requests, decoder);
  bulk_past(target, method, options, mf::now(), nullptr, requests, decoder);
}

namespace {

using CallOne = FunctionRef<void(const Target&, const CallOptions&, Decoder&)>;

/// The parts of agents whose calls are made one after another, each with the remaining time.
std::vector<ScatteredPart> in_turn(const ScatterTarget& target, CallOptions options, TimePoint deadline,
                                   std::size_t items, NewDecoder decoder, CallOne call_one) {
  std::vector<ScatteredPart> parts;
  for (auto& [agent, to] : target.targets(deadline)) {
    auto& part = parts.emplace_back(ScatteredPart{std::move(agent), decoder(items), nullptr});
    options.deadline = deadline == kNever ? kInfinite : deadline - mf::now();
    try {
      call_one(to.past(), options, *part.decoder);  // a scattered call is one call
    } catch (...) {
      part.failure = mf::detail::shared(Failure::from_current_exception());
    }
  }
  return parts;
}

std::vector<ScatteredPart> gathered(const ScatterTarget& target, const link::Method& method,
                                    const protocol::RequestHead& head, Encode encode,
                                    const CallContext& context, std::size_t items, NewDecoder decoder) {
  std::vector<ScatteredPart> parts;
  for (auto& [agent, reply] : gather(target, method.info, head, encode, context)) {
    auto& part = parts.emplace_back(ScatteredPart{std::move(agent), decoder(items), nullptr});
    if (auto whole = whole_failure(method, reply)) {
      part.failure = mf::detail::shared(*std::move(whole));
    } else if (!method.info.oneway) {
      take_apart(method, reply, 0, items, *part.decoder);
    }
  }
  return parts;
}

/// How the agents' parts of a scattered call have ended.
class PartOutcomes final : public ItemOutcomes {
 public:
  explicit PartOutcomes(const std::vector<ScatteredPart>& parts) noexcept : parts_(parts) {}
  [[nodiscard]] std::size_t size() const noexcept override { return parts_.size(); }
  [[nodiscard]] const Failure* failure(std::size_t item) const noexcept override {
    const auto& part = parts_[item];
    if (part.failure) return part.failure.get();
    return part.decoder->results.size() == 1 ? part.decoder->results.failure(0) : nullptr;
  }

 private:
  const std::vector<ScatteredPart>& parts_;
};

/// Makes a scattered call with `make(context, options)`, through the interceptors if there are any.
std::vector<ScatteredPart> scattered_with(
    const ScatterTarget& target, const MethodInfo& info, const CallOptions& options,
    FunctionRef<std::vector<ScatteredPart>(const CallContext&, const CallOptions&)> make) {
  if (!target.target().is_intercepted()) return make(Context(target.target(), options, info), options);
  ClientWay way(target.target(), options, info, CallKind::scattered, 1);
  way.begin();
  auto answer = way.run([&](const ClientWay::Next& next) -> Answer {
    auto parts = attempt([&] {
      return make(Context(target.target(), next.options, info, next.made, next.facts), next.options);
    });
    return Answer(std::move(parts));
  });
  auto parts = std::move(answer).take<std::vector<ScatteredPart>>();
  if (!parts.ok()) {
    way.fail_with(parts.failure());
    parts.failure().raise();
  }
  way.end(PartOutcomes(parts.value()));
  return std::move(parts).value();
}

}  // namespace

std::vector<ScatteredPart> scatter(
    const ScatterTarget& target, const link::Method& method, const CallOptions& options,
    const protocol::RequestHead& head, Encode encode,
    FunctionRef<void(const Target&, const CallOptions&, link::Results&)> call_one, NewDecoder decoder) {
  return scattered_with(target, method.info, options,
                        [&](const CallContext& context, const CallOptions& changed) {
                          if (!target.in_process())
                            return gathered(target, method, head, encode, context, 1, decoder);
                          return in_turn(target, changed, context.deadline, 1, decoder,
                                         [&](const Target& to, const CallOptions& own, Decoder& into) {
                                           call_one(to, own, into.results);
                                         });
                        });
}

std::vector<ScatteredPart> scatter_bulk(const ScatterTarget& target, const link::BatchMethod& method,
                                        const CallOptions& options, link::Items requests,
                                        NewDecoder decoder) {
  return scattered_with(
      target, method.method.info, options, [&](const CallContext& context, const CallOptions& changed) {
        if (target.in_process() || requests.count == 0) {
          return in_turn(target, changed, context.deadline, requests.count, decoder,
                         [&](const Target& to, const CallOptions& own, Decoder& into) {
                           bulk(to, method, own, requests, into);
                         });
        }
        check_sent_requests(method, requests);
        const auto encode = [&](Gathered& payload) {
          method.request.encode(payload.buffer, requests, 0, requests.count);
        };
        return gathered(target, method.method, head_of(method, requests.count, protocol::kBulk), encode,
                        context, requests.count, decoder);
      });
}

}  // namespace mf::client::detail
