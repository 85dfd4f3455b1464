#include "mf/link/handler_failures.hpp"

#include <functional>

#include "mf/core/hex.hpp"
#include "mf/core/random.hpp"

namespace mf::link {
namespace {

constexpr auto kLogEvery = std::chrono::seconds(1);
// Methods and agents whose lines are limited separately; all others share one limit.
constexpr std::size_t kMostLimits = 1024;

/// Eight hexadecimal digits: enough to find one line among those of a day, and short enough to be read out.
std::string new_reference() {
  const auto number = random_number();
  std::string digits;
  for (unsigned byte = 0; byte < 4; ++byte)
    append_hex(digits, static_cast<std::uint8_t>(number >> (8 * byte)));
  return digits;
}

}  // namespace

void HandlerFailures::note(const Method& method, const FailedCall& call, const Failure& failure) noexcept {
  if (failure.code != Code::handler_failed) return;
  try {
    (void)write(method, call, failure);
  } catch (...) {
    // No memory: the caller still gets the failure.
  }
}

std::string HandlerFailures::message_after(const Method& method, const FailedCall& call,
                                           const Failure& failure) {
  if (failure.code != Code::handler_failed) return failure.message;
  const auto reference = write(method, call, failure);
  if (!hides(failure)) return failure.message;
  if (reference.empty()) return message_of(failure);
  return "the handler has failed: the log of its server has the reason, with the reference " + reference;
}

std::string HandlerFailures::message_of(const Failure& failure) const {
  return hides(failure) ? "the handler has failed: the log of its server counts it" : failure.message;
}

std::string HandlerFailures::write(const Method& method, const FailedCall& call, const Failure& failure) {
  std::pair key(full_name(method), std::string(call.agent));
  const auto text = std::hash<std::string_view>()(failure.message);
  const auto now = mf::now();
  const std::scoped_lock lock(mutex_);
  if (limits_.size() >= kMostLimits && !limits_.contains(key)) key = {};
  auto& limit = limits_[std::move(key)];
  if (limit.text == text && limit.logged_at != TimePoint{} && now - limit.logged_at < kLogEvery) {
    ++limit.unlogged;
    return limit.reference;
  }
  const auto calls = limit.unlogged + 1;
  auto reference = new_reference();
  const bool written = log_.try_write(Level::warning, "handler_failed",
                                      {{"service", method.service.name},
                                       {"method", method.info.name},
                                       {"agent", call.agent},
                                       {"peer", call.peer},
                                       {"identity", call.identity},
                                       {"trace_id", call.trace_id},
                                       {"reference", reference},
                                       {"calls", calls},
                                       {"what", failure.message}});
  if (!written) reference.clear();
  limit = {.logged_at = now, .unlogged = written ? 0 : calls, .text = text, .reference = reference};
  return reference;
}

}  // namespace mf::link
