#include "http/calls.hpp"

#include <utility>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/client/scratch.hpp"
#include "mf/client/target.hpp"
#include "mf/codec/described/json.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/failure.hpp"

namespace mf::http {

class TappedCall {
 public:
  /// `parameters`: without metadata. Null: no tap wants to see the call.
  [[nodiscard]] static std::unique_ptr<TappedCall> begin(const Callee& callee, const Settings& settings,
                                                         const protocol::RequestHead& head,
                                                         std::span<const std::byte> parameters) {
    if (callee.taps == nullptr || !callee.taps->draws()) [[likely]]
      return nullptr;
    auto made = std::make_unique<TappedCall>(callee, settings);
    const auto& service = made->description_->service();
    made->tap_ = callee.taps->begin({.service = service.name,
                                     .agent = made->agent_,
                                     .method = service.methods[callee.method],
                                     .peer = made->peer_,
                                     .identity = &made->caller_->identity,
                                     .schema = service.fingerprint,
                                     .tier = static_cast<std::uint8_t>(head.tier),
                                     .is_stream = (head.flags & protocol::kStream) != 0,
                                     .size = parameters.size(),
                                     .parameters = parameters});
    return made->tap_ ? std::move(made) : nullptr;
  }

  TappedCall(const Callee& callee, const Settings& settings)
      : caller_(callee.caller),
        description_(callee.description),
        peer_(callee.peer),
        agent_(settings.agent ? sent_agent(description_->service(), *settings.agent) : std::string()) {}

  void end(const link::Reply& reply) const noexcept {
    CallEnd facts;
    facts_->write_to(facts);
    tap_->end({.reply = &reply, .server = facts.peer});
  }
  /// It is not sent, for this reason.
  void end(const Failure& why) const noexcept { tap_->end({.failure = &why}); }
  /// For the context of the call: they say which server has got it.
  [[nodiscard]] const std::shared_ptr<client::CallFacts>& facts() const noexcept { return facts_; }

 private:
  const std::shared_ptr<Caller> caller_;
  const std::shared_ptr<const Description> description_;
  const std::string peer_;
  const std::string agent_;
  const std::shared_ptr<client::CallFacts> facts_ = std::make_shared<client::CallFacts>();
  std::shared_ptr<server::ForwardedTap> tap_;
};

namespace {

class Calling final : public client::AsyncCall {
 public:
  Calling(const client::Target& target, const Callee& callee, const link::Method& method,
          const protocol::RequestHead& head, Gathered&& payload, const client::CallContext& context,
          std::unique_ptr<TappedCall> tap, UniqueFunction<void(Answer&&)> done)
      : AsyncCall(target, method.info, head, std::move(payload), context),
        description_(callee.description),
        method_(callee.method),
        tap_(std::move(tap)),
        done_(std::move(done)) {
    allow_cancel();
  }

 private:
  void end(link::Reply&& reply) override {
    if (tap_) [[unlikely]]
      tap_->end(reply);
    done_(description_->read(method_, reply));
  }
  [[nodiscard]] bool runs_anywhere() const noexcept override { return true; }

  const std::shared_ptr<const Description> description_;
  const std::size_t method_;
  const std::unique_ptr<TappedCall> tap_;  // null: no tap wants to see it
  UniqueFunction<void(Answer&&)> done_;
};

/// What both kinds of calls are made of.
struct Prepared {
  client::Target target;
  CallOptions options;
  Gathered payload;
  protocol::RequestHead head;
};

client::Target target_of(const Callee& callee, const Settings& settings) {
  const auto& service = callee.description->service();
  const client::Target target(callee.caller->client, service);
  if (!settings.agent) return service.per_agent ? target.any() : target;
  return target.at(sent_agent(service, *settings.agent));
}

Problem refused_arguments(const Callee& callee, const codec::DecodeError& error) {
  return {
      .code = Code::invalid_argument,
      .detail = "the arguments of " + callee.description->full_name(callee.method) + ": " + error.message(),
      .status = 400};
}

std::variant<Prepared, Problem> prepare(const Callee& callee, const Settings& settings,
                                        std::string_view arguments) {
  const auto& description = *callee.description;
  const auto& service = description.service();
  if (settings.agent && !service.per_agent)
    return refusal(Code::invalid_argument, std::string(service.name) + " has no agents");
  auto bytes = described::from_json(description.schema(), description.at(callee.method).params, arguments);
  if (!bytes.ok()) return refused_arguments(callee, bytes.error());
  Prepared prepared{.target = target_of(callee, settings),
                    .options = {.deadline = settings.deadline, .metadata = settings.metadata},
                    .payload = Gathered(client::take_scratch()),
                    .head = {.route = 0,
                             .tier = description.request_tier(callee.method),
                             .flags = 0,
                             .count = 1,
                             .deadline = 0,
                             .id = 0}};
  prepared.payload.buffer.append(*bytes);
  return prepared;
}

/// Metadata that do not fit are a problem of the request.
Outcome<void> add_metadata(Prepared& prepared, const client::CallContext& context) {
  if (context.metadata == nullptr) return {};
  prepared.head.flags |= protocol::kMetadata;
  return attempt([&] { client::prepend_metadata(prepared.payload, *context.metadata); });
}

/// Starts the call that `make` returns for what was prepared, its context and its tap, which is null if no
/// tap wants to see the call. Its head has these flags.
template <class Call, class Make>
std::variant<std::shared_ptr<Call>, Problem> start(const Callee& callee, const Settings& settings,
                                                   std::string_view arguments, const MethodInfo& method,
                                                   std::uint8_t flags, const Make& make) {
  auto made = prepare(callee, settings, arguments);
  if (auto* const problem = std::get_if<Problem>(&made)) return std::move(*problem);
  auto& prepared = std::get<Prepared>(made);
  prepared.head.flags |= flags;
  auto tap = TappedCall::begin(callee, settings, prepared.head, prepared.payload.buffer.span());
  const client::Context context(prepared.target, prepared.options, method, mf::now(),
                                tap ? &tap->facts() : nullptr);
  if (const auto fits = add_metadata(prepared, context); !fits) {
    if (tap) tap->end(fits.failure());
    return problem_of(fits.failure());
  }
  std::shared_ptr<Call> call = make(prepared, context, std::move(tap));
  client::AsyncCall::launch(call, context.now);
  return call;
}

}  // namespace

std::variant<Running, Problem> start_call(const Callee& callee, const Settings& settings,
                                          std::string_view arguments, UniqueFunction<void(Answer&&)> done) {
  const auto& method = callee.description->link(callee.method, settings.idempotent);
  return start<client::AsyncCall>(
      callee, settings, arguments, method.info, 0,
      [&](Prepared& prepared, const client::Context& context, std::unique_ptr<TappedCall> tap) -> Running {
        return std::make_shared<Calling>(prepared.target, callee, method, prepared.head,
                                         std::move(prepared.payload), context, std::move(tap),
                                         std::move(done));
      });
}

// ---- streams

Streaming::Streaming(const client::Target& target, const Callee& callee, const protocol::RequestHead& head,
                     Gathered&& payload, const client::CallContext& context, const CallOptions& options,
                     Tier tier, std::unique_ptr<TappedCall> tap)
    : StreamedCall(target, callee.description->link(callee.method, false), head, std::move(payload), context,
                   options, tier),
      description_(callee.description),
      method_(callee.method),
      tap_(std::move(tap)) {}

Streaming::~Streaming() = default;

void Streaming::end(link::Reply&& reply) {
  if (tap_) [[unlikely]]
    tap_->end(reply);
  answer_ = description_->read(method_, reply);
  const auto* const problem = std::get_if<Problem>(&answer_);
  end_streams(problem == nullptr ? nullptr : mf::detail::shared(failure_of(*problem)));
}

Answer Streaming::next_value(const link::StreamIn::Frame& frame, codec::Reader& reader) const {
  const auto& schema = description_->schema();
  const auto type = description_->at(method_).results_stream;
  const auto unreadable = [&](std::string_view why) {
    return Problem{
        .code = Code::decode_error,
        .execution = Execution::unknown,
        .detail = "a value of the stream of " + description_->full_name(method_) + ": " + std::string(why),
        .status = 502};
  };
  if (frame.encoding != static_cast<std::uint8_t>(described::element_tier(schema.type(type))))
    return unreadable("another encoding than the schema says");
  auto json = described::element_to_json(schema, type, reader);
  if (!json.ok()) return unreadable(json.error().message());
  return std::move(*json);
}

std::optional<Problem> Streaming::send(std::string_view json, UniqueFunction<void(bool)> done) {
  const auto type = description_->at(method_).params_stream;
  auto bytes = described::element_from_json(description_->schema(), type, json);
  if (!bytes.ok())
    return Problem{.code = Code::invalid_argument,
                   .execution = Execution::unknown,
                   .detail = "a value of the stream: " + bytes.error().message(),
                   .status = 400};
  output().async_write(
      [&](Buffer& out) { out.append(*bytes); },
      [done = std::move(done)](Outcome<bool>&& wanted) mutable { done(wanted.ok() && wanted.value()); });
  return std::nullopt;
}

void Streaming::end_sending() {
  if (output().end_here()) end_output_later();
}

std::variant<std::shared_ptr<Streaming>, Problem> start_stream(const Callee& callee, const Settings& settings,
                                                               std::string_view arguments) {
  const auto& description = *callee.description;
  const auto sent = description.at(callee.method).params_stream;
  const auto tier =
      sent == described::kNoType ? Tier::memcpy : described::element_tier(description.schema().type(sent));
  return start<Streaming>(
      callee, settings, arguments, description.link(callee.method, false).info, protocol::kStream,
      [&](Prepared& prepared, const client::Context& context, std::unique_ptr<TappedCall> tap) {
        return std::make_shared<Streaming>(prepared.target, callee, prepared.head,
                                           std::move(prepared.payload), context, prepared.options, tier,
                                           std::move(tap));
      });
}

}  // namespace mf::http
