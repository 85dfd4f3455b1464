#include "mf/client/call.hpp"

#include <algorithm>
#include <chrono>

#include "client/batch.hpp"
#include "client/whole_failure.hpp"

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

}  // namespace

std::shared_ptr<BatchState> batch(const Target& target, const link::BatchMethod& method,
                                  const BatchOptions& options, link::Items requests,
                                  std::unique_ptr<Decoder> decoder) {
  const CallOptions call_options{
      .deadline = options.deadline, .metadata = options.metadata, .stop = options.stop};
  auto state = std::make_shared<Batch>(method, std::move(decoder));
  if (const auto local = target.local_batch()) {
    link::local_batch(method, local, call_options, requests, state->results());
    state->end();
    return state;
  }
  check_sent_requests(method, requests);
  const auto& info = method.method.info;
  const Context context(target, call_options, info);
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

void bulk(const Target& target, const link::BatchMethod& method, const CallOptions& options,
          link::Items requests, Decoder& decoder) {
  const auto local = target.local_batch();
  if (requests.count == 0) return;
  if (local) return link::local_batch(method, local, options, requests, decoder.results);
  check_sent_requests(method, requests);
  const auto& info = method.method.info;
  const Context context(target, options, info);
  link::ReplySlot slot;
  send_message(slot, target, method, requests, 0, requests.count, context, protocol::kBulk);
  if (const auto whole = whole_failure(method.method, slot.reply)) whole->raise();
  if (info.oneway) return take_unsent(slot.reply, 0, decoder.results);
  take_apart(method.method, slot.reply, 0, requests.count, decoder);
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
      call_one(to, options, *part.decoder);
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

}  // namespace

std::vector<ScatteredPart> scatter(
    const ScatterTarget& target, const link::Method& method, const CallOptions& options,
    const protocol::RequestHead& head, Encode encode,
    FunctionRef<void(const Target&, const CallOptions&, link::Results&)> call_one, NewDecoder decoder) {
  const Context context(target.target(), options, method.info);
  if (target.in_process()) {
    return in_turn(
        target, options, context.deadline, 1, decoder,
        [&](const Target& to, const CallOptions& own, Decoder& into) { call_one(to, own, into.results); });
  }
  return gathered(target, method, head, encode, context, 1, decoder);
}

std::vector<ScatteredPart> scatter_bulk(const ScatterTarget& target, const link::BatchMethod& method,
                                        const CallOptions& options, link::Items requests,
                                        NewDecoder decoder) {
  const Context context(target.target(), options, method.method.info);
  if (target.in_process() || requests.count == 0) {
    return in_turn(target, options, context.deadline, requests.count, decoder,
                   [&](const Target& to, const CallOptions& own, Decoder& into) {
                     bulk(to, method, own, requests, into);
                   });
  }
  check_sent_requests(method, requests);
  const auto encode = [&](Gathered& payload) {
    method.request.encode(payload.buffer, requests, 0, requests.count);
  };
  return gathered(target, method.method, head_of(method, requests.count, protocol::kBulk), encode, context,
                  requests.count, decoder);
}

}  // namespace mf::client::detail
