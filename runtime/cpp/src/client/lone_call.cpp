// What of a lone call is the same for all methods: its start over a connection, and its interceptors.
#include <memory>
#include <utility>

#include "mf/client/call.hpp"
#include "mf/client/intercepted.hpp"
#include "mf/core/failure.hpp"

namespace mf::client::detail {

namespace {

/// A call whose outcome has no type here.
class AnsweredCall final : public AsyncCall {
 public:
  AnsweredCall(const Target& target, const AnyMethod& method, const protocol::RequestHead& head,
               Gathered&& payload, const CallContext& context, AnswerDone done)
      : AsyncCall(target, method.method.info, head, std::move(payload), context),
        method_(method),
        done_(std::move(done)) {}

 private:
  void end(link::Reply&& reply) override {
    if (method_.method.info.oneway)
      return done_(reply.local() ? Answer(std::move(reply.failure)) : Answer::nothing());
    const auto decoder = method_.decoder(1);
    take_apart(method_.method, reply, 0, 1, *decoder);
    done_(decoder->results.take(0));
  }

  const AnyMethod& method_;
  AnswerDone done_;
};

/// One request of an asynchronous call with interceptors.
void launch_answered(const AnyMethod& method, const Target& target, const ClientWay::Next& next,
                     Gathered&& payload, AnswerDone&& done, const std::stop_token& stop) {
  const auto launched = launch_past(
      target, next.options, method.method, method.head, next.made, next.facts, std::move(payload), stop,
      [&](const protocol::RequestHead& head, Gathered&& encoded, const CallContext& context) {
        return std::make_shared<AnsweredCall>(target, method, head, std::move(encoded), context,
                                              std::move(done));
      });
  if (!launched) done(launched.failure());
}

class LaunchedWay final : public LaterWay {
 public:
  LaunchedWay(const AnyMethod& method, const Target& target, const CallOptions& options, Gathered&& payload,
              AnswerDone done, const std::stop_token& stop)
      : LaterWay(target, options, method.method.info, CallKind::call, method.outcome.mark, std::move(done),
                 stop),
        method_(method),
        payload_(std::move(payload)) {
    way().set_arguments({.get = &request, .source = this});
  }

 private:
  static const void* request(const void* source, std::shared_ptr<void>& kept) {
    const auto& self = *static_cast<const LaunchedWay*>(source);
    if (!kept) {
      const auto bytes = in_one_piece(self.payload_);
      codec::Reader reader(bytes.span());
      kept = link::decoded_request(self.method_.request, reader);
    }
    return kept.get();
  }
  void make(const ClientWay::Next& next, AnswerDone done, const std::stop_token& stop, bool last) override {
    if (last) way().forget_arguments();
    launch_answered(method_, target(), next, last ? std::move(payload_) : copied(payload_), std::move(done),
                    stop);
  }

  const AnyMethod& method_;
  Gathered payload_;
};

}  // namespace

Outcome<void> launch_past(
    const Target& target, const CallOptions& options, const link::Method& method, protocol::RequestHead head,
    TimePoint made, const std::shared_ptr<CallFacts>* facts, Gathered&& payload, const std::stop_token& stop,
    FunctionRef<std::shared_ptr<AsyncCall>(const protocol::RequestHead&, Gathered&&, const CallContext&)>
        make) {
  const Context context(target, options, method.info, made == TimePoint{} ? mf::now() : made, facts);
  if (context.metadata != nullptr) [[unlikely]] {
    if (const auto fits = attempt([&] { prepend_metadata(payload, *context.metadata); }); !fits)
      return fits.failure();
    head.flags |= protocol::kMetadata;
  }
  auto call = make(head, std::move(payload), context);
  if (options.stop.stop_possible()) AsyncCall::stop_with(call, options.stop);
  if (stop.stop_possible()) AsyncCall::stop_with(call, stop);
  AsyncCall::launch(std::move(call), context.now);
  return {};
}

void call_intercepted(const AnyMethod& method, const Target& target, const CallOptions& options,
                      mf::detail::ArgumentSource arguments, Encode encode, ClientWay::GoOn go_on,
                      void* outcome) {
  ClientWay way(target, options, method.method.info, CallKind::call, 1);
  way.set_arguments(arguments);
  way.begin();
  const auto start = [&](const ClientWay::Next& next, AnswerDone done, const std::stop_token& stop) {
    if (target.in_process()) return done(method.outcome.answer([&](void* into) { go_on(next, into); }));
    Gathered payload(take_scratch());
    const auto encoded = attempt([&] { encode(payload); });
    if (!encoded) return done(encoded.failure());
    launch_answered(method, target, next, std::move(payload), std::move(done), stop);
  };
  way.run(method.outcome, outcome, go_on, start);
}

void launch_intercepted(const AnyMethod& method, const Target& target, const CallOptions& options,
                        Gathered&& payload, AnswerDone done, const std::stop_token& stop) {
  std::make_shared<LaunchedWay>(method, target, options, std::move(payload), std::move(done), stop)->begin();
}

}  // namespace mf::client::detail
