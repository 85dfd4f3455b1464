#include "http/conversation.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "http/pieces.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::http {
namespace {

// From RFC 6455, section 7.4.1.
constexpr std::uint16_t kNormal = 1000;
constexpr std::uint16_t kGoingAway = 1001;

constexpr std::size_t kMostMembers = 16;

/// Appends a message in a frame of its own, as servers send it: not masked (section 5.2).
void append_message(std::string& to, std::initializer_list<std::string_view> parts) {
  constexpr char kWholeText = '\x81';
  constexpr std::size_t kLargestByte = 125;
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  const std::size_t digits = size <= kLargestByte ? 0 : size <= UINT16_MAX ? 2 : 8;
  to += kWholeText;
  to += static_cast<char>(digits == 0 ? size : digits == 2 ? kLargestByte + 1 : kLargestByte + 2);
  for (auto left = digits; left != 0; --left) to += static_cast<char>(size >> (8 * (left - 1)) & 0xffU);
  for (const auto part : parts) to += part;
}

void append_problem(std::string& to, const Problem& problem) {
  append_message(to, {R"({"problem":)", json_of(said_to_clients(problem)), "}"});
}

/// The text that a JSON string is; nothing: it is none.
std::optional<std::string> text_of(std::string_view json) {
  boost::system::error_code failed;
  const auto value = boost::json::parse(boost::json::string_view(json.data(), json.size()), failed);
  if (failed || !value.is_string()) return std::nullopt;
  return std::string(value.as_string().data(), value.as_string().size());
}

std::optional<std::uint32_t> number_of(std::string_view json) {
  boost::system::error_code failed;
  const auto value = boost::json::parse(boost::json::string_view(json.data(), json.size()), failed);
  if (failed || !value.is_int64() || value.as_int64() < 0 || value.as_int64() > UINT32_MAX)
    return std::nullopt;
  return static_cast<std::uint32_t>(value.as_int64());
}

Problem not_usable(std::string_view member, std::string_view what) {
  return refusal(Code::invalid_argument,
                 "the member " + shortened(member) + " of the first message is " + std::string(what));
}

}  // namespace

void Conversation::ready() {
  core_.entered(shared_from_this());
  entered_ = true;
  until_ = mf::now() + core_.options().header_timeout;
  read();
}

void Conversation::leave() {
  if (std::exchange(entered_, false)) core_.left(*this);
}

void Conversation::look(TimePoint now) {
  if (const auto since = writes_since(); since && *since + core_.options().body_timeout <= now) {
    core_.note_stall(*this);
    return close();
  }
  if (until_ <= now) return close();
  if (!opened_ || ending_) return;
  if (!trusted())
    return end(refusal(Code::unauthenticated, "your certificate has expired or is not accepted any more"));
  if (auto problem = visitor_.may_no_longer(visit_)) end(*problem);
}

// A topic has no end of its own.
void Conversation::drain() {
  if (opened_ && !feed_) return;
  if (closed_) return;
  ending_ = true;
  say_goodbye(kGoingAway, "the relay is stopping");
  drop_work();
}

void Conversation::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  drop_work();
  shut();
  leave();
}

void Conversation::on_lost() {
  close();
}

void Conversation::drop_work() {
  if (const auto call = std::exchange(running_, nullptr)) call->cancel();
  if (const auto stream = std::exchange(streaming_, nullptr)) stream->abandon();
  feed_ = nullptr;
  caller_ = nullptr;
}

void Conversation::end(const Answer& answer) {
  if (closed_ || std::exchange(ending_, true)) return;
  std::string last;
  if (const auto* const problem = std::get_if<Problem>(&answer)) {
    append_problem(last, *problem);
  } else {
    append_message(last, {R"({"end":)", std::get<std::string>(answer), "}"});
  }
  running_ = nullptr;
  if (const auto stream = std::exchange(streaming_, nullptr)) stream->abandon();
  feed_ = nullptr;
  until_ = mf::now() + core_.options().body_timeout;
  write(last, [this] { say_goodbye(kNormal, {}); });
}

void Conversation::on_text(std::string&& text) {
  if (closed_ || ending_) return;
  if (!std::exchange(opened_, true)) {
    core_.reached(*this, Stage::busy);
    return open(text);
  }
  on_value(text);
}

std::optional<Problem> Conversation::read_opening(std::string_view text) {
  const auto members = members_of(text, kMostMembers);
  if (!members)
    return refusal(Code::invalid_argument, "the first message is no JSON object with known members");
  for (const auto& [name, json] : *members) {
    if (name == "arguments" && !visit_.is_topic) {
      arguments_ = json;
      continue;
    }
    if (name == "replay" && visit_.is_topic) {
      visit_.subscribing.replay = number_of(json);
      if (!visit_.subscribing.replay) return not_usable(name, "no number of messages");
      continue;
    }
    auto value = text_of(json);
    if (!value) return not_usable(name, "no string");
    if (name == "token") {
      visit_.token = *std::move(value);
    } else if (name == "agent" && !visit_.is_topic) {
      visit_.settings.agent = *std::move(value);
    } else if (name == "deadline" && !visit_.is_topic) {
      if (auto problem = set_deadline(visit_.settings, *value)) return problem;
    } else if ((name == Metadata::kTraceParent || name == Metadata::kTraceState) && !visit_.is_topic) {
      if (auto problem = set_metadata(visit_.settings, name, *value)) return problem;
    } else if (name == "agents" && visit_.is_topic) {
      visit_.subscribing.agents = *std::move(value);
    } else if (name == "overflow" && visit_.is_topic) {
      visit_.subscribing.overflow = *std::move(value);
    } else {
      return not_usable(name, "not known here");
    }
  }
  return std::nullopt;
}

void Conversation::open(std::string_view text) {
  until_ = kNever;
  if (const auto problem = read_opening(text)) return end(*problem);
  auto identity = visitor_.identity(visit_.token);
  if (!identity) return end(problem_of(identity.failure()));
  if (const auto refused = visitor_.may_not(identity.value(), visit_)) return end(*refused);
  auto caller = attempt([&] { return core_.callers().of(identity.value()); });
  if (!caller) return end(problem_of(caller.failure()));
  read();  // from now on, so that the end of the connection is noticed
  core_.descriptions().find(
      caller.value(), visit_.name, visit_.is_topic, mf::now() + visit_.settings.deadline,
      [this, self = shared_from_this(), caller = caller.value()](Outcome<Descriptions::Known>&& known) {
        if (closed_ || ending_) return;
        if (!known) return end(problem_of(known.failure()));
        if (visit_.is_topic != (known.value()->topic() != nullptr))
          return end(refusal(Code::unknown_service,
                             visit_.name + " is no " + (visit_.is_topic ? "topic" : "service")));
        caller_ = caller;
        if (visit_.is_topic) return begin_feed(known.value(), caller);
        on_described(known.value(), caller);
      });
}

void Conversation::on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller) {
  const auto method = known->method(visit_.method);
  if (!method)
    return end(refusal(Code::unknown_method, visit_.name + " has no method " + shortened(visit_.method)));
  if (const auto refused = visitor_.may_not_call_agent(caller->identity, visit_, known->service()))
    return end(*refused);
  begin_call({.caller = caller,
              .description = known,
              .method = *method,
              .peer = peer(),
              .taps = &core_.relay().taps()});
}

void Conversation::begin_call(const Callee& callee) {
  core_.count_call();
  if (callee.description->streams(callee.method) == Streams::none) {
    auto begun =
        start_call(callee, visit_.settings, arguments_,
                   [&core = core_, self = shared_from_this()](Answer&& answer) mutable {
                     core.post([self = std::move(self), answer = std::move(answer)] { self->end(answer); });
                   });
    if (auto* const problem = std::get_if<Problem>(&begun)) return end(*problem);
    running_ = std::get<Running>(std::move(begun));
    return;
  }
  auto begun = start_stream(callee, visit_.settings, arguments_);
  if (auto* const problem = std::get_if<Problem>(&begun)) return end(*problem);
  streaming_ = std::get<std::shared_ptr<Streaming>>(std::move(begun));
  // A value that has come meanwhile was kept.
  if (waiting_) on_value(*std::exchange(waiting_, std::nullopt));
  pump();
}

void Conversation::pump() {
  if (closed_ || ending_ || !streaming_) return;
  const auto ended = [this, self = shared_from_this()] {
    core_.post([this, self] {
      if (streaming_) end(Answer(streaming_->answer()));
    });
  };
  if (!streaming_->receives()) return streaming_->when_ended(ended);
  std::string frames;
  const auto came = streaming_->take([&](std::string_view value) {
    core_.count_messages(1);
    append_message(frames, {R"({"value":)", value, "}"});
  });
  if (const auto* const problem = std::get_if<Problem>(&came)) return end(*problem);
  switch (std::get<Streaming::Came>(came)) {
    case Streaming::Came::values:
      return write(frames, [this] { pump(); });
    case Streaming::Came::nothing:
      return streaming_->input().when_ready(
          [this, self = shared_from_this()] { core_.post([this, self] { pump(); }); });
    case Streaming::Came::ended:
      return streaming_->when_ended(ended);
  }
}

void Conversation::on_value(std::string_view text) {
  if (!streaming_) {
    // It is read no further before the call has begun; a call without a stream takes no values.
    if (running_ || feed_ || waiting_)
      return end(refusal(Code::invalid_argument, "this conversation takes no more messages"));
    waiting_ = text;
    return;
  }
  const auto members = members_of(text, 1);
  if (!members || members->size() != 1)
    return end(refusal(Code::invalid_argument, R"(a message is {"value": …} or {"end": null})"));
  const auto& [name, json] = members->front();
  if (!streaming_->sends() || sent_all_)
    return end(refusal(Code::invalid_argument, "the method takes no more values"));
  if (name == "end") {
    sent_all_ = true;
    streaming_->end_sending();
    return read();
  }
  if (name != "value")
    return end(refusal(Code::invalid_argument, R"(a message is {"value": …} or {"end": null})"));
  const auto problem = streaming_->send(json, [&core = core_, self = shared_from_this()](bool /*wanted*/) {
    core.post([self] {
      if (!self->closed_ && !self->ending_) self->read();
    });
  });
  if (problem) end(*problem);
}

void Conversation::begin_feed(const Descriptions::Known& topic, const std::shared_ptr<Caller>& caller) {
  if (const auto refused = visitor_.may_not_subscribe_agents(caller->identity, visit_, *topic->topic()))
    return end(*refused);
  auto begun = Feed::begin(caller, topic, visit_.subscribing);
  if (auto* const problem = std::get_if<Problem>(&begun)) return end(*problem);
  feed_ = std::get<std::unique_ptr<Feed>>(std::move(begun));
  pump_feed();
}

void Conversation::pump_feed() {
  if (closed_ || ending_ || !feed_) return;
  feed_->when_ready(
      [&core = core_, self = shared_from_this()](Outcome<topics::Receiver::Taken>&& taken) mutable {
        core.post([self = std::move(self), taken = std::move(taken)]() mutable {
          self->on_message(std::move(taken));
        });
      });
}

void Conversation::on_message(Outcome<topics::Receiver::Taken>&& taken) {
  if (closed_ || ending_ || !feed_) return;
  if (!taken) return end(problem_of(taken.failure()));
  std::string frames;
  feed_->each(std::move(taken).value(), [&](const Answer& message) {
    core_.count_messages(1);
    if (const auto* const problem = std::get_if<Problem>(&message)) {
      append_problem(frames, *problem);
    } else {
      append_message(frames, {std::get<std::string>(message)});
    }
    return frames.size();
  });
  write(frames, [this] { pump_feed(); });
}

}  // namespace mf::http
