#include "mf/link/converting.hpp"

#include <algorithm>
#include <cstring>

#include "mf/codec/limits.hpp"
#include "mf/codec/varint.hpp"
#include "mf/core/failure.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::link {
namespace {

using described::Went;

/// Whether values of this type are embedded in others as bytes with their length.
bool is_counted(const described::Type& type) noexcept {
  return type.tier == Tier::archive || type.tier == Tier::custom;
}

std::string method_name(const Adaptation& adaptation, std::uint16_t method) {
  const auto& here = *adaptation.plan().here;
  auto name = std::string(here.name().substr(here.name().rfind('.') + 1));
  if (method < here.methods().size()) name += "." + std::string(here.methods()[method].name);
  return name;
}

}  // namespace

std::string undeclared(const Adaptation& adaptation, std::uint16_t method,
                       const evolution::ErrorPlan& error) {
  return adaptation.said(method_name(adaptation, method) + ": " + error.name +
                         " was thrown, which the client's schema does not declare");
}

// ---- one value

Conversion::Conversion(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method,
                       Direction direction, described::PairIndex way, std::string place)
    : adaptation_(std::move(adaptation)),
      method_(method),
      direction_(direction),
      way_(way),
      place_(std::move(place)),
      program_(direction == Direction::to_server ? adaptation_->plan().requests
                                                 : adaptation_->plan().results),
      transcoder_(program_) {}

Converted Conversion::said(Went went, std::string_view place) const {
  if (went == Went::over) return {};
  const auto& error = transcoder_.error();
  if (went == Went::broken) return {.went = went, .why = error.message()};
  const bool topic = adaptation_->plan().here->of() == described::Schema::Of::topic;
  const std::string_view side = topic                                ? "the subscriber's schema"
                                : direction_ == Direction::to_server ? "the server's schema"
                                                                     : "the client's schema";
  std::string reason = error.reason;
  if (const auto at = reason.find('@'); at != std::string::npos) reason.replace(at, 1, side);
  auto words = method_name(*adaptation_, method_) + ": ";
  words.append(place);
  if (!error.path.empty()) words.append(" ").append(error.path);
  if (!words.ends_with(':')) words += ":";
  return {.went = went, .why = adaptation_->said(words + " " + reason)};
}

Converted Conversion::fields(codec::Reader& reader, Buffer& out) {
  return said(transcoder_.run(way_, reader, out), place_);
}

Converted Conversion::alone(codec::Reader& reader, Buffer& out) {
  return said(transcoder_.run(way_, reader, out), place_);
}

Converted Conversion::error(const evolution::ErrorPlan& plan, codec::Reader& reader, Buffer& out) {
  return said(transcoder_.run_fields(plan.way, reader, out), "error " + plan.name + ":");
}

Tier Conversion::element_tier() const noexcept {
  return program_.to->type(program_.pairs[way_].to).fixed ? Tier::memcpy : Tier::febird;
}

Tier Conversion::element_tier_before() const noexcept {
  return program_.from->type(program_.pairs[way_].from).fixed ? Tier::memcpy : Tier::febird;
}

Converted Conversion::element(codec::Reader& reader, Buffer& out) {
  const auto& pair = program_.pairs[way_];
  const bool counted = is_counted(program_.to->type(pair.to));
  inner_.clear();
  auto& into = counted ? inner_ : out;
  Converted converted;
  if (is_counted(program_.from->type(pair.from))) {
    const std::byte* from = nullptr;
    std::size_t length = 0;
    if (!reader.take_counted(from, length)) return {.went = Went::broken, .why = reader.error().message()};
    codec::Reader inside(std::span(from, length));
    converted = alone(inside, into);
    if (converted.went == Went::over && !inside.finish())
      return {.went = Went::broken, .why = inside.error().message()};
  } else {
    converted = alone(reader, into);
  }
  if (converted.went != Went::over || !counted) return converted;
  codec::Writer writer(out.append(codec::kMaxVarint<std::uint32_t> + inner_.size()));
  codec::write_varint(writer, inner_.size());
  writer.bytes(inner_.data(), inner_.size());
  out.cut_at(writer.position());
  return converted;
}

// ---- requests

/// The outcome of a sent item, without its result.
struct AdaptedRequest::Answer {
  Code code = Code::ok;
  Execution execution = Execution::unknown;
  std::string message;      // or:
  std::uint16_t error = 0;  // of the client's schema
  Buffer bytes;             // and its bytes
};

AdaptedRequest::AdaptedRequest(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method)
    : adaptation_(std::move(adaptation)),
      method_(method),
      plan_(adaptation_->method(method)),
      requests_(adaptation_, method, Direction::to_server, plan_.params, "parameter"),
      results_(adaptation_, method, Direction::to_client, plan_.results, "result") {}

std::optional<Reply> AdaptedRequest::send(const Gathered& payload, protocol::RequestHead& head) {
  if (payload.pieces.empty()) return send(payload.buffer.span(), head);
  Buffer joined;
  std::size_t begin = 0;
  for (const auto& piece : payload.pieces) {
    joined.append(payload.buffer.span().subspan(begin, piece.at - begin));
    joined.append(piece.bytes.span());
    begin = piece.at;
  }
  joined.append(payload.buffer.span().subspan(begin));
  return send(joined.span(), head);
}

std::optional<Reply> AdaptedRequest::send(std::span<const std::byte> payload, protocol::RequestHead& head) {
  payload_.clear();
  unsent_.clear();
  items_ = head.count;
  auto body = payload;
  if ((head.flags & protocol::kMetadata) != 0) {
    body = protocol::split_metadata(payload).payload;
    payload_.buffer.append(payload.first(payload.size() - body.size()));
  }
  codec::Reader reader(body);
  for (std::uint32_t item = 0; item < items_; ++item) {
    auto converted = requests_.fields(reader, payload_.buffer);
    if (converted.went == Went::broken) return Reply::failed(unreadable(converted.why), Ended::refused);
    if (converted.went == Went::not_over) unsent_.emplace_back(item, std::move(converted.why));
  }
  head.count = items_ - static_cast<std::uint32_t>(unsent_.size());
  head.tier = adaptation_->plan().there->type(plan_.params_type).tier;
  if (head.count != 0) return std::nullopt;
  if (items_ == 1 && (head.flags & protocol::kBulk) == 0)
    return Reply::failed(not_executed(Code::invalid_argument, unsent_.front().second), Ended::refused);
  Reply none;
  return put_together(none, {}, {});
}

// ---- replies

Failure AdaptedRequest::unreadable(std::string_view why) const {
  const auto& here = *adaptation_->plan().here;
  return may_have_run(Code::decode_error,
                      adaptation_->said("the reply of " + std::string(here.name()) + "." +
                                        std::string(here.methods()[method_].name) + ": " + std::string(why)));
}

void AdaptedRequest::receive(Reply& reply) {
  if (reply.local() || (reply.status != Code::ok && reply.status != Code::declared)) return;
  const bool mixed = reply.status == Code::declared;
  const auto& there = *adaptation_->plan().there;
  const auto sent = items_ - static_cast<std::uint32_t>(unsent_.size());
  const auto fail = [&](std::string_view why) {
    auto metadata = std::move(reply.metadata);
    reply = Reply::failed(unreadable(why), Ended::unreadable);
    reply.metadata = std::move(metadata);
  };
  if (plan_.results_type == described::kNoType) {  // a one-way request, which was sent
    if (!unsent_.empty()) reply = put_together(reply, std::vector<Answer>(sent), {});
    return;
  }
  if (reply.count != sent) return fail("another number of items than were sent");
  if (reply.encoding != static_cast<std::uint8_t>(there.type(plan_.results_type).tier))
    return fail("another encoding than the schema says");
  protocol::MixedReader outcomes(mixed ? reply.payload : std::span<const std::byte>(), mixed ? sent : 0);
  if (mixed && !outcomes.ok()) return fail("outcomes that do not fit");
  std::vector<Answer> answers(sent);
  Buffer results;
  codec::Reader reader(mixed ? outcomes.rest() : reply.payload);
  bool all_well = unsent_.empty();
  for (std::uint32_t item = 0; item < sent; ++item) {
    if (mixed && outcomes.outcome(item) != Code::ok) continue;
    auto converted = results_.fields(reader, results);
    if (converted.went == Went::broken) return fail(converted.why);
    if (converted.went == Went::over) continue;
    answers[item].code = Code::decode_error;
    answers[item].message = std::move(converted.why);
    all_well = false;
  }
  if (!mixed && !reader.finish()) return fail(reader.error().message());
  if (mixed) {
    if (!outcomes.skip_results(reader.offset())) return fail("results that do not fit");
    for (std::uint32_t item = 0; item < sent; ++item) {
      const auto code = outcomes.outcome(item);
      if (code == Code::ok) continue;
      if (!take(outcomes, code, answers[item])) return fail("a record that cannot be read");
    }
    if (!outcomes.finished()) return fail("bytes behind the last record");
  }
  if (!all_well || mixed) {
    reply = put_together(reply, std::move(answers), results);
    return;
  }
  reply.owner = Bytes(std::move(results));
  reply.payload = reply.owner.span();
  reply.encoding = static_cast<std::uint8_t>(adaptation_->plan().here->type(plan_.own_results_type).tier);
}

/// Reads the next record. False if it is invalid.
bool AdaptedRequest::take(protocol::MixedReader& outcomes, Code code, Answer& answer) {
  answer.code = code;
  if (code != Code::declared) {
    protocol::FailureRecord record;
    if (!outcomes.next_failure(record)) return false;
    answer.execution = record.execution;
    answer.message = record.message;
    return true;
  }
  std::uint16_t index = 0;
  std::span<const std::byte> bytes;
  if (!outcomes.next_declared(index, bytes) || index >= plan_.errors.size()) return false;
  const auto& error = plan_.errors[index];
  answer.error = error.here;
  if (error.here == evolution::ErrorPlan::kUndeclared) {
    answer.code = Code::handler_failed;
    answer.message = undeclared(*adaptation_, method_, error);
    return true;
  }
  codec::Reader reader(bytes);
  auto converted = results_.error(error, reader, answer.bytes);
  if (converted.went == Went::broken || !reader.finish()) return false;
  if (converted.went == Went::over) return true;
  answer.code = Code::decode_error;
  answer.message = std::move(converted.why);
  return true;
}

/// A MIXED reply for all items of the client's request.
Reply AdaptedRequest::put_together(Reply& reply, std::vector<Answer>&& answers, const Buffer& results) {
  for (auto& [item, why] : unsent_) {
    Answer unsent;
    unsent.code = Code::invalid_argument;
    unsent.execution = Execution::not_executed;
    unsent.message = std::move(why);
    answers.insert(answers.begin() + std::min<std::ptrdiff_t>(item, std::ssize(answers)), std::move(unsent));
  }
  Buffer out;
  protocol::MixedWriter writer(out, items_);
  for (std::uint32_t item = 0; item < items_; ++item) writer.set(item, answers[item].code);
  out.append(results.span());
  for (const auto& answer : answers) {
    if (answer.code == Code::ok) continue;
    if (answer.code != Code::declared) {
      writer.failure(answer.execution, answer.message);
      continue;
    }
    writer.begin_declared(answer.error);
    out.append(answer.bytes.span());
    writer.end_declared();
  }
  Reply made;
  made.status = Code::declared;
  if (plan_.own_results_type != described::kNoType)
    made.encoding = static_cast<std::uint8_t>(adaptation_->plan().here->type(plan_.own_results_type).tier);
  made.metadata = std::move(reply.metadata);
  made.count = items_;
  made.owner = Bytes(std::move(out));
  made.payload = made.owner.span();
  return made;
}

// ---- streams and topics

namespace {

class ElementConversion final : public StreamConversion {
 public:
  ElementConversion(Conversion&& conversion, Direction direction) noexcept
      : conversion_(std::move(conversion)), direction_(direction) {}

  [[nodiscard]] Tier tier() const noexcept override { return conversion_.element_tier(); }
  [[nodiscard]] Tier tier_before() const noexcept override { return conversion_.element_tier_before(); }
  [[nodiscard]] std::optional<Failure> convert(std::span<const std::byte>& values, Buffer& out) override {
    codec::Reader reader(values);
    auto converted = conversion_.element(reader, out);
    values = values.subspan(reader.offset());
    if (converted.went == Went::over) return std::nullopt;
    if (converted.went == Went::broken) converted.why.insert(0, "a value of the stream: ");
    const bool own = direction_ == Direction::to_server;
    return may_have_run(own ? Code::invalid_argument : Code::decode_error, std::move(converted.why));
  }

 private:
  Conversion conversion_;
  const Direction direction_;
};

}  // namespace

std::unique_ptr<AdaptedRequest> adapted_request(const Adaptation& adaptation, std::uint16_t method) {
  if (!adaptation.method(method).converts) return nullptr;
  return std::make_unique<AdaptedRequest>(adaptation.shared_from_this(), method);
}

std::shared_ptr<StreamConversion> stream_conversion(const std::shared_ptr<const Adaptation>& adaptation,
                                                    std::uint16_t method, Direction direction) {
  const auto& plan = adaptation->method(method);
  const bool to_server = direction == Direction::to_server;
  const auto way = to_server ? plan.params_stream : plan.results_stream;
  if (way == described::kNone) return nullptr;
  return std::make_shared<ElementConversion>(
      Conversion(adaptation, method, direction, way, to_server ? "parameter stream:" : "result stream:"),
      direction);
}

std::unique_ptr<Conversion> topic_conversion(const std::shared_ptr<const Adaptation>& adaptation) {
  const auto way = adaptation->plan().value;
  if (way == described::kNone) return nullptr;
  return std::make_unique<Conversion>(adaptation, std::uint16_t{0}, Direction::to_client, way, "value");
}

}  // namespace mf::link
