#include "http/session.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstdio>
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
constexpr std::string_view kProblem = "application/problem+json";
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
constexpr std::string_view kNoPages =
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";

/// The end of the chunks of an answer.
constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string chunk_of(std::string_view bytes) {
  std::array<char, 24> size{};
  const auto length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  std::string chunk(size.data(), static_cast<std::size_t>(length));
  return chunk.append(bytes).append("\r\n");
}

bool has_type(std::string_view field, std::string_view type) {
  const auto end = field.find_first_of("; \t");
  return lower(field.substr(0, end)) == type;
}

bool accepts(std::string_view field, std::string_view type) {
  return field.find(type) != std::string_view::npos;
}

}  // namespace

void Session::enter() {
  core_.entered(*this);
  entered_ = true;
}

void Session::ready(Identity certified) {
  visitor_.emplace(core_, peer_, std::move(certified));
  next();
}

void Session::leave() {
  if (std::exchange(entered_, false)) core_.left(*this);
}

// ---- as a guest of the door

void Session::look(TimePoint now) {
  // A stream that is ended here has not said so, as one that was cut.
  const bool needs_right = feed_ || streaming_ || (batch_ && missing_ != 0);
  if (until_ <= now || (needs_right && (!trusted() || visitor_->may_no_longer(visit_))) ||
      (working_ && until_ == kNever && gone()))
    close();
}

void Session::drain() {
  keep_ = false;
  if (!working_ || feed_) close();  // a topic has no end of its own
}

void Session::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  drop_work();
  shut();
  leave();
}

/// Nothing is there any more that an answer would go to.
void Session::drop_work() {
  for (const auto& [item, call] : std::exchange(running_, {})) call->cancel();
  if (const auto stream = std::exchange(streaming_, nullptr)) stream->abandon();
  feed_ = nullptr;
}

void Session::next() {
  if (closed_) return;
  if (core_.draining()) return close();
  request_ = {};
  origin_.clear();
  visit_ = {};
  events_ = Events::none;
  head_sent_ = false;
  answers_.clear();
  running_.clear();
  batch_.reset();
  batch_bytes_ = 0;
  streaming_ = nullptr;
  feed_ = nullptr;
  working_ = false;
  read();
}

// ---- answers

std::string Session::head(unsigned status, std::string_view type, std::string_view more) const {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(words_of(status)).append("\r\n");
  if (!type.empty()) text.append("Content-Type: ").append(type).append("\r\n");
  text.append("X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n").append(more);
  if (!origin_.empty())
    text.append("Access-Control-Allow-Origin: ").append(origin_).append("\r\nVary: Origin\r\n");
  if (!keep_) text += "Connection: close\r\n";
  return text;
}

void Session::answer(unsigned status, std::string_view type, std::string_view body, std::string_view more) {
  auto& figures = core_.figures();
  ++(status < 400 ? figures.good : status < 500 ? figures.client_errors : figures.server_errors);
  auto text = head(status, type, more);
  if (status != 204) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  text.append("\r\n");
  if (request_.method() != bhttp::verb::head) text.append(body);
  write(std::move(text), [this, self = shared_from_this()] {
    if (!keep_) return linger();
    next();
  });
}

void Session::answer(const Problem& problem) {
  const auto said = said_to_clients(problem);
  const auto status = status_of(said);
  std::string more(kNoPages);
  if (status == 401) more += "WWW-Authenticate: Bearer\r\n";
  if (status == 429 || status == 503) more += "Retry-After: 1\r\n";
  answer(status, kProblem, json_of(said), more);
}

void Session::on_broken(unsigned status, const std::string& why) {
  keep_ = false;
  auto problem = refusal(status == 413 ? Code::message_too_large : Code::invalid_argument, why);
  problem.status = status;
  ++core_.figures().requests;
  working_ = true;
  answer(problem);
}

// ---- requests

std::string_view Session::field(boost::beast::string_view name) const {
  const auto found = request_.find(name);
  if (found == request_.end()) return {};
  return {found->value().data(), found->value().size()};
}

std::string_view Session::query(std::string_view name) const {
  std::string_view target(request_.target().data(), request_.target().size());
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  target.remove_prefix(mark + 1);
  while (!target.empty()) {
    const auto end = std::min(target.find('&'), target.size());
    const auto each = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=')
      return each.substr(name.size() + 1);
  }
  return {};
}

void Session::on_request(Request&& request) {
  request_ = std::move(request);
  working_ = true;
  until_ = kNever;
  ++core_.figures().requests;
  keep_ = request_.keep_alive() && !core_.draining();
  const std::string_view target(request_.target().data(), request_.target().size());
  path_ = target.substr(0, target.find('?'));
  const auto host = field("host");
  const auto bad = [&](unsigned status, const std::string& why) {
    keep_ = false;
    auto problem = refusal(Code::invalid_argument, why);
    problem.status = status;
    answer(problem);
  };
  for (const auto* const once :
       {"host", "authorization", "origin", "content-type", "content-length", "transfer-encoding"})
    if (request_.count(once) > 1) return bad(400, std::string("the field ") + once + " is there twice");
  if (field("content-length").find(',') != std::string_view::npos)
    return bad(400, "the field content-length has several lengths");
  // Of another coding the parser finds no end, and takes the body for the next request.
  if (const auto coding = field("transfer-encoding"); !coding.empty() && lower(coding) != "chunked")
    return bad(501, "the only transfer coding here is chunked");
  if (request_.version() >= 11 && host.empty()) return bad(400, "the field host is missing");
  if (const auto why = core_.why_not_at(host); !why.empty()) return bad(421, why);
  if (!trusted()) return bad(403, "your certificate is not accepted any more");
  if (const auto origin = field("origin"); !origin.empty()) {
    if (!core_.admits(origin, host)) {
      return answer(
          refusal(Code::permission_denied,
                  "pages of " + shortened(origin) + " may not use this door (--http-origin says which may)"));
    }
    if (origin.find_first_of("\r\n") == std::string_view::npos) origin_ = origin;
  } else if (const auto site = field("sec-fetch-site"); site == "cross-site" || site == "same-site") {
    // As of an image or a link of another page, which has no Origin.
    if (page_file(path_) == nullptr)
      return answer(refusal(Code::permission_denied, "pages of other sites may not use this door"));
  }
  route();
}

void Session::preflight() {
  answer(204, {}, {},
         "Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: authorization, "
         "content-type, mf-agent, mf-deadline, mf-idempotent, traceparent, tracestate\r\n"
         "Access-Control-Max-Age: 600\r\n");
}

void Session::route() {
  const auto method = request_.method();
  const auto not_allowed = [&](std::string_view allowed) {
    auto problem = refusal(Code::invalid_argument, "this path takes " + std::string(allowed) + " alone");
    problem.status = 405;
    answer(problem);
  };
  if (method == bhttp::verb::options && !origin_.empty()) return preflight();
  if (const auto* const file = page_file(path_)) {
    if (method != bhttp::verb::get) return not_allowed("GET");
    return answer(200, file->type, file->text, kPagePolicy);
  }
  const auto token = Visitor::bearer(field("authorization"));
  if (!token)
    return answer(refusal(Code::unauthenticated, "Authorization holds no token: write Bearer and the token"));
  visit_.token = *token;
  if (path_ == "/openapi.json") {
    if (method != bhttp::verb::get) return not_allowed("GET");
    return openapi();
  }
  if (!read_path(path_, visit_)) {
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
  visit_.settings.deadline = core_.options().deadline;
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
    if (auto identity = visitor_->identity(visit_.token); !identity)
      return answer(problem_of(identity.failure()));
    leave();
    closed_ = true;  // for this object
    return upgrade(std::move(request_), std::move(visit_), std::move(*visitor_));
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
        if (closed_) return;
        if (!known) return answer(problem_of(known.failure()));
        if (visit_.is_topic != (known.value()->topic() != nullptr))
          return answer(refusal(Code::unknown_service,
                                visit_.name + " is no " + (visit_.is_topic ? "topic" : "service")));
        if (visit_.is_topic) return begin_feed(known.value(), caller);
        on_described(known.value(), caller);
      });
}

void Session::on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller) {
  const auto method = known->method(visit_.method);
  if (!method)
    return answer(refusal(Code::unknown_method, visit_.name + " has no method " + shortened(visit_.method)));
  const Callee callee{.caller = caller, .description = known, .method = *method};
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
  if (is_array(request_.body())) return call_many(callee);
  missing_ = 1;
  answers_.resize(1);
  call(callee, 0, request_.body());
}

void Session::call(const Callee& callee, std::size_t item, std::string_view arguments) {
  ++core_.figures().calls;
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
  auto items = elements_of(request_.body(), kMostItems);
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
  if (closed_) return;
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
}

void Session::append_event(std::string& to, std::string_view name, std::string_view json) const {
  if (events_ == Events::lines) {
    to.append("{\"").append(name).append("\":").append(json).append("}\n");
    return;
  }
  if (name != "value") to.append("event: ").append(name).append("\n");
  to.append("data: ").append(json).append("\n\n");
}

void Session::send_events(std::string events, bool is_last, Then then) {
  std::string bytes;
  if (!std::exchange(head_sent_, true)) {
    ++core_.figures().good;
    bytes = head(200, events_ == Events::lines ? kLines : kServerSent, {});
    bytes += request_.version() >= 11 ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
  }
  if (request_.version() < 11) {
    bytes += events;
  } else {
    if (!events.empty()) bytes += chunk_of(events);
    if (is_last) bytes += kLastChunk;
  }
  write(std::move(bytes), [this, self = shared_from_this(), then = std::move(then)]() mutable {
    until_ = kNever;
    then();
  });
}

/// Before anything was sent, a problem has a status of its own.
void Session::end_events(const Answer& given) {
  running_.clear();
  streaming_ = nullptr;
  feed_ = nullptr;
  const auto* const problem = std::get_if<Problem>(&given);
  if (problem != nullptr && !head_sent_) return answer(*problem);
  std::string last;
  if (problem != nullptr) {
    append_event(last, "problem", json_of(said_to_clients(*problem)));
  } else {
    append_event(last, "end", std::get<std::string>(given));
  }
  if (request_.version() < 11) keep_ = false;
  send_events(std::move(last), true, [this] {
    if (!keep_) return linger();
    next();
  });
}

void Session::begin_stream(const Callee& callee) {
  choose_events();
  ++core_.figures().calls;
  auto begun = start_stream(callee, visit_.settings, request_.body());
  if (auto* const problem = std::get_if<Problem>(&begun)) return answer(*problem);
  streaming_ = std::get<std::shared_ptr<Streaming>>(std::move(begun));
  pump();
}

void Session::pump() {
  if (closed_ || !streaming_) return;
  std::string events;
  const auto came = streaming_->take([&](const std::string& value) {
    ++core_.figures().messages;
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
      return send_events(std::move(events), false, [this] { pump(); });
    case Streaming::Came::nothing:
      return streaming_->input().when_ready(again);
    case Streaming::Came::ended:
      return streaming_->when_ended([this, self = shared_from_this()] {
        core_.post([this, self] {
          if (!closed_ && streaming_) end_events(Answer(streaming_->answer()));
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
  send_events({}, false, [this] { pump_feed(); });
}

void Session::pump_feed() {
  if (closed_ || !feed_) return;
  feed_->when_ready(
      [&core = core_, self = shared_from_this()](Outcome<topics::Receiver::Taken>&& taken) mutable {
        core.post([self = std::move(self), taken = std::move(taken)]() mutable {
          self->on_message(std::move(taken));
        });
      });
}

void Session::on_message(Outcome<topics::Receiver::Taken>&& taken) {
  if (closed_ || !feed_) return;
  if (!taken) return end_events(problem_of(taken.failure()));
  const auto json = feed_->json_of(taken.value());
  std::string events;
  if (const auto* const problem = std::get_if<Problem>(&json)) {
    append_event(events, "problem", json_of(said_to_clients(*problem)));
  } else if (events_ == Events::lines) {
    events = std::get<std::string>(json) + "\n";
  } else {
    append_event(events, "value", std::get<std::string>(json));
  }
  ++core_.figures().messages;
  send_events(std::move(events), false, [this] { pump_feed(); });
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
        if (!closed_) describe(caller, {known.begin(), known.end()}, mf::now() + kDescribeWithin);
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
      if (!closed_) describe(caller, std::move(names), until);
    });
  };
  core_.descriptions().find(caller, name, is_topic, until, std::move(next));
}

}  // namespace mf::http
