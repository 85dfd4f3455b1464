#include "http/session.hpp"

#include <algorithm>
#include <boost/beast/http/verb.hpp>
#include <utility>

#include "http/openapi.hpp"
#include "http/page.hpp"
#include "http/pieces.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::http {
namespace {

namespace bhttp = boost::beast::http;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kLines = "application/x-ndjson";
constexpr std::string_view kServerSent = "text/event-stream";
// The items of a batch.
constexpr std::size_t kMostItems = 1'000;
constexpr std::size_t kMostBatchBytes = std::size_t{16} << 20U;
// Those of them that run at once.
constexpr std::size_t kMostRunning = 64;
// The services that one request for a document may name, and how long servers may take to describe all of a
// document.
constexpr std::size_t kMostDescribed = 16;
constexpr std::chrono::seconds kDescribeWithin{5};

bool has_type(std::string_view field, std::string_view type) {
  const auto end = field.find_first_of("; \t");
  return lower(field.substr(0, end)) == type;
}

/// 16 bytes in base64.
bool is_websocket_key(std::string_view field) {
  return field.size() == 24 && field.ends_with("==") && std::ranges::all_of(field.substr(0, 22), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
                  c == '/';
         });
}

bool accepts(std::string_view field, std::string_view type) {
  return field.find(type) != std::string_view::npos;
}

}  // namespace

void Session::arrived(Identity certified) {
  visitor_.emplace(core_.gatekeeper(), core_.options().log, peer(), std::move(certified));
}

bool Session::may_go_on() {
  const bool needs_right = feed_ || streaming_ || (batch_ && missing_ != 0);
  return !needs_right || (trusted() && !visitor_->may_no_longer(visit_));
}

bool Session::is_page(std::string_view path) const {
  return page_file(path) != nullptr;
}

/// Nothing is there any more that an answer would go to.
void Session::drop_work() {
  for (const auto& [item, call] : std::exchange(running_, {})) call->cancel();
  if (const auto stream = std::exchange(streaming_, nullptr)) stream->abandon();
  feed_ = nullptr;
  caller_ = nullptr;
}

void Session::forget() {
  visit_ = {};
  events_ = Events::none;
  answers_.clear();
  running_.clear();
  batch_.reset();
  batch_bytes_ = 0;
  streaming_ = nullptr;
  feed_ = nullptr;
  caller_ = nullptr;
}

// ---- requests

void Session::preflight() {
  answer(204, {}, {},
         "Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: authorization, "
         "content-type, mf-agent, mf-deadline, mf-idempotent, traceparent, tracestate\r\n"
         "Access-Control-Max-Age: 600\r\n");
}

void Session::route() {
  const auto method = request().method();
  if (method == bhttp::verb::options && of_other_origin()) return preflight();
  if (const auto* const file = page_file(path())) {
    if (method != bhttp::verb::get) return not_allowed("GET");
    return answer(200, file->type, file->text, kPagePolicy);
  }
  const auto token = Visitor::bearer(field("authorization"));
  if (!token)
    return answer(refusal(Code::unauthenticated, "Authorization holds no token: write Bearer and the token"));
  visit_.token = *token;
  if (path() == "/openapi.json") {
    if (method != bhttp::verb::get) return not_allowed("GET");
    return openapi();
  }
  if (!read_path(path(), visit_)) {
    auto problem =
        refusal(Code::unknown_service, "here are /, /openapi.json, /v1/SERVICE/METHOD and /v1/topics/TOPIC");
    problem.status = 404;
    return answer(problem);
  }
  if (const auto agent = field("mf-agent"); !agent.empty()) {
    visit_.settings.agent = unescaped(agent);
    if (!visit_.settings.agent)
      return answer(refusal(Code::invalid_argument, "MF-Agent is no text of UTF-8 with bytes as %XX"));
  }
  visit_.settings.deadline = core_.deadline();
  if (const auto deadline = field("mf-deadline"); !deadline.empty())
    if (const auto problem = set_deadline(visit_.settings, deadline)) return answer(*problem);
  if (const auto idempotent = field("mf-idempotent"); !idempotent.empty()) {
    if (idempotent != "true" && idempotent != "false")
      return answer(refusal(Code::invalid_argument, "MF-Idempotent is true or false"));
    visit_.settings.idempotent = idempotent == "true";
  }
  for (const auto key : {Metadata::kTraceParent, Metadata::kTraceState})
    if (const auto value = field(key); !value.empty())
      if (const auto problem = set_metadata(visit_.settings, key, value)) return answer(*problem);
  if (lower(field("upgrade")).find("websocket") != std::string::npos) {
    if (method != bhttp::verb::get) return not_allowed("GET");
    if (!request().body().empty() || !is_websocket_key(field("sec-websocket-key")))
      return answer(refusal(Code::invalid_argument,
                            "a WebSocket begins without a body, and with a Sec-WebSocket-Key of 16 bytes"));
    if (auto identity = visitor_->identity(visit_.token); !identity)
      return answer(problem_of(identity.failure()));
    return upgrade(hand_over(), std::move(visit_), std::move(*visitor_));
  }
  if (visit_.is_topic) {
    if (method != bhttp::verb::get) return not_allowed("GET");
    if (const auto agents = query("agents"); !agents.empty()) {
      auto plain = unescaped(agents);
      if (!plain) return answer(refusal(Code::invalid_argument, "agents is no text of UTF-8"));
      visit_.subscribing.agents = *std::move(plain);
    }
    visit_.subscribing.overflow = query("overflow");
  } else {
    if (method != bhttp::verb::post) return not_allowed("POST, or GET with Upgrade: websocket,");
    if (!has_type(field("content-type"), kJson)) {
      auto problem =
          refusal(Code::invalid_argument, "the arguments are JSON: Content-Type: application/json");
      problem.status = 415;
      return answer(problem);
    }
  }
  find();
}

void Session::find() {
  auto identity = visitor_->identity(visit_.token);
  if (!identity) return answer(problem_of(identity.failure()));
  if (const auto refused = visitor_->may_not(identity.value(), visit_)) return answer(*refused);
  auto caller = attempt([&] { return core_.callers().of(identity.value()); });
  if (!caller) return answer(problem_of(caller.failure()));
  core_.descriptions().find(
      caller.value(), visit_.name, visit_.is_topic, mf::now() + visit_.settings.deadline,
      [this, self = shared_from_this(), caller = caller.value()](Outcome<Descriptions::Known>&& known) {
        if (closed()) return;
        if (!known) return answer(problem_of(known.failure()));
        if (visit_.is_topic != (known.value()->topic() != nullptr))
          return answer(refusal(Code::unknown_service,
                                visit_.name + " is no " + (visit_.is_topic ? "topic" : "service")));
        caller_ = caller;
        if (visit_.is_topic) return begin_feed(known.value(), caller);
        on_described(known.value(), caller);
      });
}

void Session::on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller) {
  const auto method = known->method(visit_.method);
  if (!method)
    return answer(refusal(Code::unknown_method, visit_.name + " has no method " + shortened(visit_.method)));
  const Callee callee{.caller = caller,
                      .description = known,
                      .method = *method,
                      .peer = peer(),
                      .taps = &core_.relay().taps()};
  if (const auto refused = visitor_->may_not_call_agent(caller->identity, visit_, known->service()))
    return answer(*refused);
  const auto streams = known->streams(*method);
  if (streams == Streams::results) return begin_stream(callee);
  if (streams != Streams::none) {
    auto problem = refusal(Code::invalid_argument,
                           known->full_name(*method) + " takes a stream of values: call it by a WebSocket");
    problem.status = 426;
    return answer(problem);
  }
  if (is_array(request().body())) return call_many(callee);
  missing_ = 1;
  answers_.resize(1);
  call(callee, 0, request().body());
}

void Session::call(const Callee& callee, std::size_t item, std::string_view arguments) {
  core_.count_call();
  auto begun = start_call(callee, visit_.settings, arguments,
                          [&core = core_, self = shared_from_this(), item](Answer&& answer) mutable {
                            core.post([self = std::move(self), item, answer = std::move(answer)]() mutable {
                              self->on_answer(item, std::move(answer));
                            });
                          });
  if (auto* const problem = std::get_if<Problem>(&begun)) return on_answer(item, std::move(*problem));
  running_.emplace(item, std::get<Running>(std::move(begun)));
}

void Session::call_many(const Callee& callee) {
  auto items = elements_of(request().body(), kMostItems);
  if (!items)
    return answer(refusal(Code::invalid_argument, "the batch is no array of objects, or has more than " +
                                                      std::to_string(kMostItems)));
  batch_.emplace(
      Batch{.callee = callee, .items = *std::move(items), .until = mf::now() + visit_.settings.deadline});
  answers_.resize(batch_->items.size());
  missing_ = batch_->items.size();
  go_on_with_batch();
}

/// Starts as many as may run, and answers when all have ended. One that cannot be started has ended at once.
void Session::go_on_with_batch() {
  auto& batch = *batch_;
  if (std::exchange(batch.starts, true)) return;
  while (batch.next != batch.items.size() && running_.size() < kMostRunning) {
    const auto item = batch.next++;
    visit_.settings.deadline = batch.until - mf::now();  // of the whole batch
    if (visit_.settings.deadline.count() > 0) {
      call(batch.callee, item, batch.items[item]);
    } else {
      on_answer(item, problem_of(not_executed(Code::deadline_exceeded,
                                              "the deadline passed while earlier items of the batch ran")));
    }
  }
  batch.starts = false;
  if (missing_ == 0) answer_batch();
}

void Session::on_answer(std::size_t item, Answer&& given) {
  if (closed()) return;
  if (!batch_) {
    running_.clear();
    if (const auto* const problem = std::get_if<Problem>(&given)) return answer(*problem);
    return answer(200, kJson, std::get<std::string>(given));
  }
  running_.erase(item);
  --missing_;
  auto& place = answers_[item];
  if (auto* const problem = std::get_if<Problem>(&given)) {
    place = R"({"problem":)" + json_of(said_to_clients(*problem)) + "}";
  } else {
    const auto& result = std::get<std::string>(given);
    batch_bytes_ += result.size();
    place =
        batch_bytes_ <= kMostBatchBytes
            ? R"({"result":)" + result + "}"
            : R"({"problem":)" +
                  json_of(problem_of(may_have_run(Code::message_too_large,
                                                  "the results of a batch have more than " +
                                                      std::to_string(kMostBatchBytes) + " bytes together"))) +
                  "}";
  }
  go_on_with_batch();
}

void Session::answer_batch() {
  std::string json = "[";
  for (const auto& each : answers_) json.append(json.size() == 1 ? "" : ",").append(each);
  answer(200, kJson, json += "]");
}

// ---- answers that go on

void Session::choose_events() {
  events_ = accepts(field("accept"), kServerSent) ? Events::server_sent : Events::lines;
  choose_pieces(events_ == Events::lines ? kLines : kServerSent);
}

void Session::append_event(std::string& to, std::string_view name, std::string_view json) const {
  if (events_ == Events::lines) {
    to.append("{\"").append(name).append("\":").append(json).append("}\n");
    return;
  }
  if (name != "value") to.append("event: ").append(name).append("\n");
  to.append("data: ").append(json).append("\n\n");
}

/// Before anything was sent, a problem has a status of its own.
void Session::end_events(const Answer& given) {
  running_.clear();
  streaming_ = nullptr;
  feed_ = nullptr;
  const auto* const problem = std::get_if<Problem>(&given);
  if (problem != nullptr && !has_begun()) return answer(*problem);
  std::string last;
  if (problem != nullptr) {
    append_event(last, "problem", json_of(said_to_clients(*problem)));
  } else {
    append_event(last, "end", std::get<std::string>(given));
  }
  send_last(last);
}

void Session::begin_stream(const Callee& callee) {
  choose_events();
  core_.count_call();
  auto begun = start_stream(callee, visit_.settings, request().body());
  if (auto* const problem = std::get_if<Problem>(&begun)) return answer(*problem);
  streaming_ = std::get<std::shared_ptr<Streaming>>(std::move(begun));
  pump();
}

void Session::pump() {
  if (closed() || !streaming_) return;
  std::string events;
  const auto came = streaming_->take([&](std::string_view value) {
    core_.count_messages(1);
    append_event(events, "value", value);
  });
  if (const auto* const problem = std::get_if<Problem>(&came)) {
    const auto stream = streaming_;
    end_events(*problem);
    return stream->abandon();
  }
  const auto again = [this, self = shared_from_this()] { core_.post([this, self] { pump(); }); };
  switch (std::get<Streaming::Came>(came)) {
    case Streaming::Came::values:
      return send_piece(events, [this] { pump(); });
    case Streaming::Came::nothing:
      return streaming_->input().when_ready(again);
    case Streaming::Came::ended:
      return streaming_->when_ended([this, self = shared_from_this()] {
        core_.post([this, self] {
          if (!closed() && streaming_) end_events(Answer(streaming_->answer()));
        });
      });
  }
}

void Session::begin_feed(const Descriptions::Known& topic, const std::shared_ptr<Caller>& caller) {
  if (const auto refused = visitor_->may_not_subscribe_agents(caller->identity, visit_, *topic->topic()))
    return answer(*refused);
  choose_events();
  auto begun = Feed::begin(caller, topic, visit_.subscribing);
  if (auto* const problem = std::get_if<Problem>(&begun)) return answer(*problem);
  feed_ = std::get<std::unique_ptr<Feed>>(std::move(begun));
  send_piece({}, [this] { pump_feed(); });
}

void Session::pump_feed() {
  if (closed() || !feed_) return;
  feed_->when_ready(
      [&core = core_, self = shared_from_this()](Outcome<topics::Receiver::Taken>&& taken) mutable {
        core.post([self = std::move(self), taken = std::move(taken)]() mutable {
          self->on_message(std::move(taken));
        });
      });
}

void Session::on_message(Outcome<topics::Receiver::Taken>&& taken) {
  if (closed() || !feed_) return;
  if (!taken) return end_events(problem_of(taken.failure()));
  std::string events;
  feed_->each(std::move(taken).value(), [&](const Answer& message) {
    core_.count_messages(1);
    if (const auto* const problem = std::get_if<Problem>(&message)) {
      append_event(events, "problem", json_of(said_to_clients(*problem)));
    } else if (events_ == Events::lines) {
      events.append(std::get<std::string>(message)).append("\n");
    } else {
      append_event(events, "value", std::get<std::string>(message));
    }
    return events.size();
  });
  send_piece(events, [this] { pump_feed(); });
}

// ---- documents

/// Of what the controller lists, and clients have used; or of the services that the request names.
void Session::openapi() {
  auto identity = visitor_->identity(visit_.token);
  if (!identity) return answer(problem_of(identity.failure()));
  std::vector<Named> names;
  auto asked = query("service");
  const bool all = asked.empty();
  while (!asked.empty()) {
    const auto end = std::min(asked.find(','), asked.size());
    Visit named;
    if (!read_path("/v1/topics/" + std::string(asked.substr(0, end)), named) ||
        names.size() == kMostDescribed)
      return answer(refusal(Code::invalid_argument, "service is a list of at most " +
                                                        std::to_string(kMostDescribed) +
                                                        " names with commas between them"));
    names.emplace_back(false, std::move(named.name));
    asked.remove_prefix(std::min(end + 1, asked.size()));
  }
  auto caller = attempt([&] { return core_.callers().of(identity.value()); });
  if (!caller) return answer(problem_of(caller.failure()));
  if (!all) return describe(caller.value(), std::move(names), mf::now() + kDescribeWithin);
  core_.catalogue().find(
      [this, self = shared_from_this(), caller = caller.value()](const Catalogue::Names& known) {
        if (!closed()) describe(caller, {known.begin(), known.end()}, mf::now() + kDescribeWithin);
      });
}

/// Takes the names from the back. One that no server describes in time is left out.
void Session::describe(const std::shared_ptr<Caller>& caller, std::vector<Named> names, TimePoint until) {
  if (names.empty() || until <= mf::now()) {
    const auto may_call = [&](std::string_view service, std::string_view method) {
      const auto& gatekeeper = core_.gatekeeper();
      if (method.empty()) return gatekeeper.may_subscribe(caller->identity, service, "*").allowed;
      return gatekeeper.may_call(caller->identity, service, "", method).allowed;
    };
    return answer(200, kJson, openapi_of(core_.descriptions().known(), may_call));
  }
  const auto [is_topic, name] = std::move(names.back());
  names.pop_back();
  // Later, since a description that is known is there at once, and each would be one more call on the stack.
  auto next = [this, self = shared_from_this(), caller, until,
               names = std::move(names)](Outcome<Descriptions::Known>&& /*known*/) mutable {
    core_.post([this, self, caller, until, names = std::move(names)]() mutable {
      if (!closed()) describe(caller, std::move(names), until);
    });
  };
  core_.descriptions().find(caller, name, is_topic, until, std::move(next));
}

}  // namespace mf::http
