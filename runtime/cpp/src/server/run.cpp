#include "mf/server/run.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "mf/codec/custom.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/core/log.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::server::detail {

using mf::detail::shared;
using mf::detail::SharedFailure;

namespace {

constexpr std::size_t kScratchKept = std::size_t{64} << 10U;

/// Writes a record for a failure, with `message` for the caller; declared errors by their index in the
/// method's list.
void write_failure(protocol::MixedWriter& writer, Buffer& out, const link::Method& method,
                   const Failure& failure, std::string_view message) {
  for (std::size_t i = 0; failure.declared && i < method.errors.size(); ++i) {
    if (!method.errors[i].is(*failure.declared)) continue;
    writer.begin_declared(static_cast<std::uint16_t>(i));
    method.errors[i].encode(out, *failure.declared);
    writer.end_declared();
    return;
  }
  writer.failure(failure.execution, message);
}

/// The failure for the client: an error that the method does not declare, or that clients could not decode,
/// must not be sent.
Failure to_wire_failure(const link::Method& method, const Failure& failure) {
  for (const auto& error : method.errors) {
    if (!error.is(*failure.declared)) continue;
    if (const auto bad = error.refusal(*failure.declared)) {
      return may_have_run(Code::handler_failed, "the handler's error breaks the schema: " + *bad);
    }
    return failure;
  }
  return mf::detail::undeclared(failure);
}

/// Results that violate their constraints, or that clients could not decode, must not be sent.
void sort_out(const link::Method& method, const Encoder& encoder) {
  auto& results = encoder.results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (const auto* failure = results.failure(i)) {
      if (failure->declared) results.fail(i, shared(to_wire_failure(method, *failure)));
      continue;
    }
    auto bad = method.result_violation == nullptr ? std::nullopt : method.result_violation(encoder.value(i));
    if (!bad && encoder.may_refuse()) bad = encoder.refusal(i);
    if (bad) results.fail(i, shared(invalid_result(*bad)));
  }
}

CallEnd end_of(CallKind kind, const Encoder& encoder) {
  if (kind != CallKind::bulk) return encoder.results.end_of_only();
  CallEnd how;
  how.outcomes = &encoder.results;
  how.encoded_items = &encoder;
  return how;
}

/// The requests of a message for its interceptors.
class EncodedRequests final : public EncodedItems {
 public:
  EncodedRequests(const link::RequestType& type, link::Items items) noexcept : type_(type), items_(items) {}

  void append(Buffer& out, std::size_t item) const override {
    Buffer one;
    type_.encode(one, items_, item, 1);
    out.append(one.span());
  }

 private:
  const link::RequestType& type_;
  const link::Items items_;
};

/// Where the failures of a message's handlers are logged, for answers that come after dispatch() has
/// returned.
struct Witness {
  explicit Witness(Incoming& in)
      : failures(in.failures()), agent(in.info().agent), trace_id(trace_id_of(in.metadata())) {}

  const std::shared_ptr<link::HandlerFailures> failures;
  const std::string agent;
  const std::string trace_id;
};

/// The same while dispatch() runs.
struct WitnessRef {
  WitnessRef(const Witness& of) : failures(*of.failures), agent(of.agent), trace_id(of.trace_id) {}
  explicit WitnessRef(Incoming& in)
      : failures(*in.failures()), agent(in.info().agent), trace_id(trace_id_of(in.metadata())) {}

  link::HandlerFailures& failures;
  std::string_view agent;
  std::string_view trace_id;
};

/// Answers a message with the outcomes of its items.
void answer(Ticket& ticket, const link::Method& method, const Encoder& encoder, const WitnessRef& witness) {
  if (ticket.oneway()) return ticket.done();
  auto& results = encoder.results;
  if (!results.all_ok() || method.result_violation != nullptr || encoder.may_refuse())
    sort_out(method, encoder);
  if (auto* const way = ticket.way()) [[unlikely]]
    way->gives(end_of(way->call.kind(), encoder));
  Gathered payload;
  auto& out = payload.buffer;
  if (results.all_ok()) {
    encoder.append_all(out);
    return ticket.answer(protocol::kStatusOk, method.result_tier, payload);
  }
  const auto count = static_cast<std::uint32_t>(results.size());
  protocol::MixedWriter writer(out, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const auto* failure = results.failure(i)) {
      writer.set(i, failure->code);
      ticket.item_ends(failure->code, 1);
    } else {
      ticket.item_ends(Code::ok, 1);
      encoder.append(out, i);
    }
  }
  link::FailedCall call{.agent = witness.agent, .trace_id = witness.trace_id};
  if (const auto& link = ticket.link()) {
    call.peer = link->peer();
    call.identity = link->identity().str();
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const auto* failure = results.failure(i))
      write_failure(writer, out, method, *failure, witness.failures.message_after(method, call, *failure));
  }
  ticket.answer(protocol::kStatusMixed, method.result_tier, payload);
}

bool decode(Incoming& in, Tier tier, link::Requests& requests) {
  codec::Reader reader = in.reader();
  if (in.tier() == tier && requests.decode(reader, in.count()) && reader.finish()) return true;
  refuse_payload(in, reader);
  return false;
}

/// Items that are not passed to the servant.
struct Refused {
  std::vector<std::size_t> kept;  // the indices of the others, if items were refused
  std::vector<std::pair<std::size_t, std::string>> refused;
};

Refused refuse_items(const link::RequestType& type, link::Requests& requests, std::size_t items) {
  Refused found;
  if (!type.constrained) return found;
  for (std::size_t i = 0; i < items; ++i) {
    if (auto bad = type.violation(requests.items(), i)) {
      found.refused.emplace_back(i, std::move(*bad));
    } else {
      found.kept.push_back(i);
    }
  }
  if (found.refused.empty()) {
    found.kept.clear();
  } else {
    requests.keep(found.kept);
  }
  return found;
}

/// Collects the answers of an asynchronous servant; the last one sends the reply.
class Collected final : public mf::detail::Answers {
 public:
  Collected(Incoming& in, const link::Method& method, std::unique_ptr<Encoder> encoder)
      : witness_(in),
        ticket_(std::move(in.ticket())),
        method_(method),
        encoder_(std::move(encoder)),
        open_(encoder_->results.size()) {}

  void answer(std::size_t item, void* outcome) override {
    ended([&] { encoder_->results.set(item, outcome); });
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    ended([&] { encoder_->results.fail(item, failure); });
  }
  /// All items are answered, by an answer that has gone through interceptors.
  void answer_all(Answer&& answer, bool single) {
    if (single) {
      encoder_->results.put(0, std::move(answer));
    } else {
      encoder_->results.put_all(encoder_->results.size(), std::move(answer));
    }
    detail::answer(ticket_, method_, *encoder_, witness_);
  }
  [[nodiscard]] const link::Results& results() const noexcept { return encoder_->results; }

 private:
  template <class Set>
  void ended(Set set) {
    bool last = false;
    {
      const std::scoped_lock lock(mutex_);
      set();
      last = --open_ == 0;
    }
    if (last) detail::answer(ticket_, method_, *encoder_, witness_);
  }

  const Witness witness_;
  std::mutex mutex_;
  Ticket ticket_;
  const link::Method& method_;
  const std::unique_ptr<Encoder> encoder_;
  std::size_t open_;
};

/// The same for items that run one after another: the starting thread waits for each answer. It holds a
/// worker, so that all items run in the context of their call.
class InTurn final : public mf::detail::Answers {
 public:
  explicit InTurn(std::shared_ptr<mf::detail::Answers> collected) : collected_(std::move(collected)) {}

  void answer(std::size_t item, void* outcome) override {
    collected_->answer(item, outcome);
    ended(item);
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    collected_->fail(item, failure);
    ended(item);
  }

  /// False: the deadline has passed, or the answer is not wanted any more, and the item still runs.
  bool wait(std::size_t item, TimePoint deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return ended_ > item; };
    if (done()) return true;
    lock.unlock();
    const mf::detail::HandlerWait gives_place;
    blocking();
    lock.lock();
    if (deadline == kNever) return changed_.wait(lock, stop, done);
    return transport::wait_until(changed_, lock, stop, deadline, done);
  }

 private:
  void ended(std::size_t item) {
    const std::scoped_lock lock(mutex_);
    ended_ = item + 1;
    changed_.notify_all();
  }

  const std::shared_ptr<mf::detail::Answers> collected_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t ended_ = 0;  // ended items, from the first on
};

}  // namespace

namespace {

/// The only answer of an asynchronous stream handler.
class StreamAnswer final : public mf::detail::Answers, public std::enable_shared_from_this<StreamAnswer> {
 public:
  StreamAnswer(Incoming& in, const link::Method& method, std::unique_ptr<Encoder> encoder)
      : witness_(in), ticket_(std::move(in.ticket())), method_(method), encoder_(std::move(encoder)) {}

  void answer(std::size_t item, void* outcome) override {
    encoder_->results.set(item, outcome);
    send();
  }
  void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    encoder_->results.fail(item, failure);
    send();
  }

 private:
  void send() {
    const auto call = ticket_.call();
    (void)call->output().end_here();
    call->output().when_drained([self = shared_from_this()] {
      detail::answer(self->ticket_, self->method_, *self->encoder_, self->witness_);
    });
  }

  const Witness witness_;
  Ticket ticket_;
  const link::Method& method_;
  const std::unique_ptr<Encoder> encoder_;
};

}  // namespace

std::shared_ptr<mf::detail::Answers> stream_answers(Incoming& in, const link::Method& method,
                                                    std::unique_ptr<Encoder> encoder) {
  return std::make_shared<StreamAnswer>(in, method, std::move(encoder));
}

void refuse_kind(Incoming& in, Streams streams) {
  in.ticket().fail(Code::decode_error, Execution::not_executed,
                   streams == Streams::none ? "the call has a stream, and the method has none"
                                            : "the method has a stream, and the call has none");
}

void log_oneway_item(const link::Method& method, const Failure& failure) {
  auto* const call = current_call().handle.get();
  const auto* const log = call != nullptr ? call->log() : nullptr;
  link::log_oneway_failure(log != nullptr ? *log : Log(), method, failure);
}

const SharedFailure& passed_deadline() {
  static const SharedFailure failure = shared(
      not_executed(Code::deadline_exceeded, "the deadline passed while earlier items of the batch ran"));
  return failure;
}

void refuse_payload(Incoming& in, const codec::Reader& reader) {
  in.ticket().fail(Code::decode_error, Execution::not_executed,
                   reader.failed() ? reader.error().message() : "another encoding than the schema says");
}

void refuse_arguments(Incoming& in, const std::string& violation) {
  in.ticket().fail(Code::invalid_argument, Execution::not_executed, violation);
}

Failure invalid_result(const std::string& violation) {
  auto failure = may_have_run(Code::handler_failed,
                              "the handler's result breaks the schema: " + codec::rooted("", violation));
  failure.unexpected = codec::is_thrown_by_codec(violation);
  return failure;
}

void answer_nothing(Incoming& in, const link::Method& method) {
  if (in.ticket().oneway()) return in.ticket().done();
  Gathered nothing;
  in.ticket().answer(protocol::kStatusOk, method.result_tier, nothing);
}

void refuse_intercepted(Incoming& in, const link::Method& method, const Failure& failure) {
  const bool fault = failure.code == Code::handler_failed;  // the interceptor has made a mistake
  if (failure.declared || fault || in.ticket().oneway()) return answer_failure(in, method, failure);
  in.ticket().fail(failure.code, failure.execution, failure.message);
}

void answer_failure(Incoming& in, const link::Method& method, const Failure& failure) {
  auto* const way = in.ticket().way();
  if (in.ticket().oneway()) {
    link::log_oneway_failure(in.failures()->log(), method, failure);
    if (way != nullptr) way->failed(failure);
    return in.ticket().done();
  }
  const auto known = failure.declared ? to_wire_failure(method, failure) : failure;
  if (way != nullptr) way->gives({.code = known.code, .failure = &known});
  const auto message = [&] {
    // Otherwise the handler has mostly failed since its caller is gone.
    if (in.cancelled()) return in.failures()->message_of(known);
    return in.failures()->message_after(method,
                                        {.agent = in.info().agent,
                                         .peer = in.info().peer,
                                         .identity = in.info().identity().str(),
                                         .trace_id = trace_id_of(in.metadata())},
                                        known);
  }();
  Gathered payload;
  auto& out = payload.buffer;
  protocol::MixedWriter writer(out, 1);
  writer.set(0, known.code);
  in.ticket().item_ends(known.code, 1);
  write_failure(writer, out, method, known, message);
  in.ticket().answer(protocol::kStatusMixed, method.result_tier, payload);
}

Gathered& scratch() {
  thread_local Gathered payload;
  return payload;
}

void answer_scratch(Incoming& in, Tier tier, Gathered& scratch) {
  in.ticket().answer(protocol::kStatusOk, tier, scratch);
  scratch.pieces.clear();
  if (scratch.buffer.capacity() > kScratchKept) scratch.buffer = Buffer();
}

void run_intercepted(Incoming& in, const link::Method& method, const mf::detail::OutcomeType& type,
                     const void* request, FunctionRef<void(void* outcome)> handler,
                     FunctionRef<void()> answer, void* outcome) {
  ServerWay way(in, method, CallKind::call, {request, 1});
  if (!way.begin(in, method)) return;
  const ReportsTo reports(in, way);
  if (way.has_around()) {
    type.put(outcome, way.run([&] { return type.answer(handler); }));
  } else {
    handler(outcome);
  }
  way.gives(type.end(outcome));
  answer();
}

void run_batch(Incoming& in, const link::BatchMethod& batch, NewEncoder new_encoder, void* servant) {
  const auto& method = batch.method;
  link::Requests requests(batch.request);
  const std::size_t items = in.count();
  if (!decode(in, batch.request.tier, requests)) return;
  const auto refused = refuse_items(batch.request, requests, items);
  const auto given = items - refused.refused.size();  // items for the servant
  const CallScope scope(in.info());
  std::optional<ServerWay> way;
  std::optional<ReportsTo> reports;
  if (in.interceptors() != nullptr && given != 0) {
    way.emplace(in, method, CallKind::bulk, requests.items());
    const EncodedRequests encoded(batch.request, requests.items());
    way->set_encoded_items(encoded, refused.kept);
    if (!way->begin(in, method)) return;
    reports.emplace(in, *way);
  }
  const auto around = [&](FunctionRef<Answer()> handler) {
    return way && way->has_around() ? way->run(handler) : handler();
  };
  if (method.info.oneway) {
    const auto ran = around([&] {
      return Answer(outcome_of([&] {
        if (given != 0) batch.run(servant, requests.items(), nullptr);
      }));
    });
    if (ran.ok()) return in.ticket().done();
    link::log_oneway_failure(in.failures()->log(), method, ran.failure());
    if (way) way->failed(ran.failure());
    return in.ticket().done();
  }
  const auto encoder = new_encoder(0);
  auto& results = encoder->results;
  std::shared_ptr<const Failure> all_failed;
  const auto run = [&] {
    return outcome_of([&] {
      if (given != 0) batch.run(servant, requests.items(), results.all());
    });
  };
  if (way && way->has_around()) {
    auto answer = way->run([&] {
      const auto ran = run();
      return ran.ok() ? results.take_all() : Answer(ran.failure());
    });
    if (answer.ok()) {
      results.put_all(given, std::move(answer));
    } else {
      all_failed = shared(answer.failure());
    }
  } else if (const auto ran = run(); !ran.ok()) {
    all_failed = shared(ran.failure());
  }
  if (!all_failed && results.size() != given) all_failed = link::miscounted(results.size(), given);
  if (results.size() != items || !refused.kept.empty()) results.remap(items, refused.kept);
  if (all_failed) results.fail_all(all_failed);
  for (const auto& [item, violation] : refused.refused) {
    results.fail(item, shared(not_executed(Code::invalid_argument, violation)));
  }
  answer(in.ticket(), method, *encoder, WitnessRef(in));
}

namespace {

/// The message of an asynchronous servant whose handlers are started.
struct Starting {
  const link::BatchMethod& batch;
  void* servant;
  TimePoint deadline;
  FunctionRef<std::stop_token()> stop;
  FunctionRef<void(const Failure&)> oneway_failed;
};

/// Passes the items to the servant; the answers go to `collected`, which is null if none is expected.
void start_items(const Starting& of, link::Requests& requests,
                 const std::shared_ptr<mf::detail::Answers>& collected) {
  const std::size_t items = requests.items().count;
  std::shared_ptr<InTurn> in_turn;
  if (collected && items > 1 && of.batch.method.info.ordered) in_turn = std::make_shared<InTurn>(collected);
  const auto answers = in_turn ? in_turn : collected;
  for (std::size_t i = 0; i < items; ++i) {
    if (auto bad =
            of.batch.request.constrained ? of.batch.request.violation(requests.items(), i) : std::nullopt) {
      if (collected) {
        collected->fail(i, shared(not_executed(Code::invalid_argument, std::move(*bad))));
      }
      continue;
    }
    mf::detail::Beginning beginning(answers.get(), i);
    try {
      of.batch.begin(of.servant, requests.at(i), i, answers);
    } catch (...) {
      const auto failure = shared(mf::detail::handler_failure());
      if (!collected) of.oneway_failed(*failure);
      beginning.fail(failure);
    }
    if (!in_turn || in_turn->wait(i, of.deadline, of.stop())) continue;
    while (++i < items) collected->fail(i, passed_deadline());
  }
}

/// The handlers of a message with interceptors around them: they may begin when dispatch() has returned.
void run_async_intercepted(Incoming& in, const link::BatchMethod& batch, NewEncoder new_encoder,
                           void* servant, const std::shared_ptr<ServerWay>& way, link::Requests&& given) {
  const auto requests = std::make_shared<link::Requests>(std::move(given));
  const bool single = way->call.kind() == CallKind::call;
  const auto start = [&batch, servant, requests, log = in.failures()->log(),
                      deadline = in.info().deadline](const std::shared_ptr<mf::detail::Answers>& answers) {
    const auto stop = [] { return std::stop_token(); };
    const auto failed = [&](const Failure& failure) { link::log_oneway_failure(log, batch.method, failure); };
    start_items(
        {.batch = batch, .servant = servant, .deadline = deadline, .stop = stop, .oneway_failed = failed},
        *requests, answers);
  };
  if (batch.method.info.oneway) {
    const auto ticket = std::make_shared<Ticket>(std::move(in.ticket()));
    std::make_shared<mf::detail::LaterHandler>(way, [start](AnswerDone done) {
      start(nullptr);
      done(Answer::nothing());
    })->start(AnswerDone([ticket, way](const Answer& answer) {
      if (!answer.ok()) way->failed(answer.failure());
      ticket->done();
    }));
    return;
  }
  const auto collected = std::make_shared<Collected>(in, batch.method, new_encoder(requests->items().count));
  auto begin = [start, single,
                into = collected->results().another(requests->items().count)](AnswerDone done) mutable {
    start(std::make_shared<link::ItemAnswers>(std::move(into), single, std::move(done)));
  };
  std::make_shared<mf::detail::LaterHandler>(way, std::move(begin))
      ->start(AnswerDone(
          [collected, single](Answer&& answer) { collected->answer_all(std::move(answer), single); }));
}

}  // namespace

void run_async(Incoming& in, const link::BatchMethod& batch, NewEncoder new_encoder, void* servant) {
  const auto& method = batch.method;
  link::Requests requests(batch.request);
  const std::size_t items = in.count();
  if (!decode(in, batch.request.tier, requests)) return;
  if (!method.info.oneway) (void)in.live_call();  // it continues when this function has returned
  const CallScope scope(in.info());
  if (in.interceptors() != nullptr) [[unlikely]] {
    const auto way = std::make_shared<ServerWay>(in, method, items == 1 ? CallKind::call : CallKind::bulk,
                                                 requests.items());
    const EncodedRequests encoded(batch.request, requests.items());
    if (items != 1) way->set_encoded_items(encoded, {});
    if (!way->begin(in, method)) return;
    way->keep();
    in.ticket().set_way(way);
    if (way->has_around())
      return run_async_intercepted(in, batch, new_encoder, servant, way, std::move(requests));
    way->forget_arguments();
  }
  std::shared_ptr<Collected> collected;  // null if no answer is expected
  if (!method.info.oneway) {
    collected = std::make_shared<Collected>(in, method, new_encoder(items));
  }
  const auto stop = [&] { return in.stop_token(); };
  const auto failed = [&](const Failure& failure) {
    link::log_oneway_failure(in.failures()->log(), method, failure);
    if (auto* const way = in.ticket().way()) way->failed(failure);
  };
  start_items({.batch = batch,
               .servant = servant,
               .deadline = in.info().deadline,
               .stop = stop,
               .oneway_failed = failed},
              requests, collected);
  if (!collected) in.ticket().done();
}

}  // namespace mf::server::detail
