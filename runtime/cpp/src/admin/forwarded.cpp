// Messages that a forwarder hands on, as a tap shows them. Their bytes are of peers that may be hostile:
// nothing is decoded but the outcome of one item, and the record of a failure.
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "admin/tapping.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/protocol/frame.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::admin {
namespace {

using server::ForwardedCall;
using server::ForwardedEnd;

struct How {
  Code code = Code::ok;
  std::string error{};
  bool mixed = false;
};

/// The payload of a reply without its metadata; nothing if it is still arriving, or has a broken block.
std::optional<std::span<const std::byte>> payload_of(const link::Reply& reply) noexcept {
  if (reply.coming != nullptr) return std::nullopt;
  if ((reply.flags & protocol::kMetadata) == 0) return reply.payload;
  const auto block = protocol::split_metadata(reply.payload);
  if (block.fault != nullptr) return std::nullopt;
  return block.payload;
}

How failed(Code code, std::span<const std::byte>& record) {
  protocol::FailureRecord read;
  if (!protocol::read_failure_record(record, read))
    return {.code = code, .error = "a failure record that cannot be read"};
  return {.code = code, .error = error_text(read.message)};
}

/// Of the only item of a message.
How outcome_of(std::span<const std::byte> payload) {
  protocol::MixedReader reader(payload, 1);
  if (!reader.ok()) return {.code = Code::declared, .error = "an outcome that cannot be read", .mixed = true};
  auto rest = reader.rest();
  const auto code = reader.outcome(0);
  if (code == Code::ok) return {.mixed = true};
  if (code != Code::declared) {
    auto how = failed(code, rest);
    how.mixed = true;
    return how;
  }
  std::uint16_t number = 0;
  std::span<const std::byte> fields;
  const bool readable = reader.next_declared(number, fields);
  return {
      .code = code,
      .error = readable ? "declared error " + std::to_string(number) : "a declared error that cannot be read",
      .mixed = true};
}

How how_of(const ForwardedEnd& end, std::uint32_t items) {
  if (end.failure != nullptr) return {.code = end.failure->code, .error = error_text(end.failure->message)};
  if (end.reply == nullptr) return {};
  const auto& reply = *end.reply;
  if (reply.how != link::Ended::replied)
    return {.code = reply.failure.code, .error = error_text(reply.failure.message)};
  auto payload = payload_of(reply);
  if (reply.status == Code::ok) return {};
  if (reply.status != Code::declared)
    return payload ? failed(reply.status, *payload) : How{.code = reply.status};
  if (items == 1 && payload) return outcome_of(*payload);
  return {.code = Code::declared, .mixed = true};
}

}  // namespace

/// One of them until it ends.
class Tapping::ForwardedMessage final : public server::ForwardedTap {
 public:
  ForwardedMessage(std::shared_ptr<Tapping> of, const ForwardedCall& call) : call_(call), of_(std::move(of)) {
    call_.parameters = {};  // they end with begin()
    call_.missing = {};
    if (!of_->what_.values) return;
    if (!call.missing.empty()) {
      withheld_ = call.missing;
    } else if (call.parameters.size() > MOST_VALUE) {
      withhold(withheld_, "parameters", call.parameters.size());
    } else if (request_ = of_->hold(call.parameters); !request_) {
      withheld_ = "the tap keeps the parameters of as many calls that have not ended as it may";
    }
  }
  ~ForwardedMessage() override {
    if (request_) of_->release(request_->size());
  }
  ForwardedMessage(const ForwardedMessage&) = delete;
  ForwardedMessage& operator=(const ForwardedMessage&) = delete;

  void end(const ForwardedEnd& how) noexcept override {
    try {
      of_->add(*this, how);
    } catch (...) {  // no memory
      of_->drop();
    }
  }

  [[nodiscard]] const ForwardedCall& call() const noexcept { return call_; }
  [[nodiscard]] Timestamp at() const noexcept { return at_; }
  [[nodiscard]] TimePoint began() const noexcept { return began_; }
  [[nodiscard]] const std::optional<Bytes>& request() const noexcept { return request_; }
  [[nodiscard]] const std::string& withheld() const noexcept { return withheld_; }

 private:
  ForwardedCall call_;
  const std::shared_ptr<Tapping> of_;
  const Timestamp at_ = std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
  const TimePoint began_ = mf::now();
  std::optional<Bytes> request_;
  std::string withheld_;
};

std::shared_ptr<server::ForwardedTap> Tapping::begin(const ForwardedCall& call) {
  if (!covers(call.service, call.method) || !wants(call.agent, call.peer, call.identity)) return nullptr;
  return std::make_shared<ForwardedMessage>(shared_from_this(), call);
}

std::optional<Bytes> Tapping::hold(std::span<const std::byte> parameters) {
  Bytes copied(parameters);
  const std::scoped_lock lock(mutex_);
  if (held_bytes_ + copied.size() > kMostHeldBytes) return std::nullopt;
  held_bytes_ += copied.size();
  return copied;
}

void Tapping::release(std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  held_bytes_ -= bytes;
}

void Tapping::add(const ForwardedMessage& message, const ForwardedEnd& end) {
  const auto& call = message.call();
  auto how = how_of(end, call.items);
  // What the items of a mixed one are, only the schema says.
  const bool is_known = !how.mixed || call.items == 1;
  if ((is_known && !is_wanted(what_.outcome, how.code)) || drops()) return;
  Tapped made{.service = std::string(call.service),
              .method = std::string(call.method),
              .agent = std::string(call.agent),
              .peer = std::string(call.peer),
              .identity = call.identity->name,
              .is_stream = call.is_stream,
              .begun = message.at(),
              .took = mf::now() - message.began(),
              .code = static_cast<std::uint8_t>(how.code),
              .error = std::move(how.error),
              .request = message.request(),
              .request_size = call.size,
              .withheld = message.withheld(),
              .forwarded = Forwarded{.server = std::string(end.server),
                                     .items = call.items,
                                     .request_tier = call.tier,
                                     .mixed = how.mixed}};
  std::memcpy(made.forwarded->schema.bytes.data(), call.schema.data(), call.schema.size());
  if (end.reply != nullptr && end.reply->how == link::Ended::replied) {
    const auto& reply = *end.reply;
    const auto payload = payload_of(reply);
    made.forwarded->result_tier = reply.encoding;
    made.result_size = payload ? payload->size() : reply.coming != nullptr ? reply.coming->size() : 0;
    const bool has_values = reply.status == Code::ok || reply.status == Code::declared;
    if (what_.values && has_values && made.result_size > MOST_VALUE) {
      withhold(made.withheld, "results", made.result_size);
    } else if (what_.values && has_values && payload && !payload->empty()) {
      made.result = shown_value(*payload);
    }
  }
  push(std::move(made));
}

}  // namespace mf::admin
