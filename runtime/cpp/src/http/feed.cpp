#include "http/feed.hpp"

#include <array>
#include <utility>

#include "mf/codec/described/json.hpp"
#include "mf/core/failure.hpp"
#include "mf/topics/board.hpp"
#include "mf/topics/item.hpp"
#include "mf/topics/options.hpp"

namespace mf::http {

std::variant<std::unique_ptr<Feed>, Problem> Feed::begin(
    const std::shared_ptr<Caller>& caller, const std::shared_ptr<const Description>& description,
    const Subscribing& wanted) {
  const auto* const topic = description->topic();
  if (topic == nullptr)
    return refusal(Code::invalid_argument, std::string(description->service().name) + " is no topic");
  SubscribeOptions options;
  options.replay = wanted.replay;
  if (!wanted.overflow.empty()) {
    for (const auto each :
         {Overflow::drop_oldest, Overflow::drop_newest, Overflow::block, Overflow::disconnect})
      if (topics::name(each) == wanted.overflow) options.overflow = each;
    if (!options.overflow)
      return refusal(Code::invalid_argument,
                     "overflow is drop_oldest, drop_newest, block or disconnect, not " + wanted.overflow);
  }
  auto receiver = attempt([&] {
    const auto agents = topic->per_agent ? topics::sent_pattern(*topic, wanted.agents) : std::string();
    return topics::Receiver::remote(caller->client, *topic, agents, options, &topics::Unread::received);
  });
  if (!receiver) return problem_of(receiver.failure());
  return std::unique_ptr<Feed>(new Feed(caller, description, std::move(receiver).value()));
}

Feed::Feed(std::shared_ptr<Caller> caller, std::shared_ptr<const Description> description,
           std::shared_ptr<topics::Receiver> receiver)
    : caller_(std::move(caller)), description_(std::move(description)), receiver_(std::move(receiver)) {
  receiver_->on_gap([](const Gap& /*gap*/) {});  // each message says what was missed before it
}

Feed::~Feed() {
  stopping_.request_stop();
  receiver_->close();
}

void Feed::when_ready(UniqueFunction<void(Outcome<topics::Receiver::Taken>&&)> next) {
  receiver_->async_take(std::move(next), stopping_.get_token());
}

bool Feed::take_ready(topics::Receiver::Taken& into) {
  const auto taken = attempt([&] { return receiver_->take(into, TimePoint()); });
  return taken && taken.value();
}

Answer Feed::json_of(const topics::Receiver::Taken& taken) const {
  auto& item = *taken.item;
  if (item.fault) return problem_of(*item.fault);
  const auto& schema = description_->schema();
  auto value = described::to_json(schema, schema.value(), item.payload());
  if (!value.ok())
    return Problem{.code = Code::decode_error,
                   .execution = Execution::unknown,
                   .detail = "a message of " + std::string(schema.name()) + ": " + value.error().message(),
                   .status = 502};
  std::string json = R"({"value":)" + std::move(*value);
  if (description_->topic()->per_agent) {
    json += R"(,"agent":)";
    append_string(json, topics::shown_agent(*description_->topic(), item.origin->agent));
  }
  if (taken.missed != 0) json.append(R"(,"missed":)").append(std::to_string(taken.missed));
  return json += "}";
}

}  // namespace mf::http
