#include "mf/codec/custom.hpp"

#include "mf/codec/readable.hpp"

namespace mf::codec {
namespace {

thread_local CustomGuard* current_guard = nullptr;

constexpr std::string_view kThrown = "the codec of a type of tier custom has thrown";

}  // namespace

CustomGuard::CustomGuard() noexcept : outer_(current_guard) {
  current_guard = this;
}

CustomGuard::~CustomGuard() {
  current_guard = outer_;
}

void CustomGuard::check(std::string_view type) const {
  if (!refusal_.empty()) refuse_value(type, ": " + refusal_);
}

void CustomGuard::keep() noexcept {
  if (current_guard == nullptr) std::terminate();
  if (current_guard->refusal_.empty()) current_guard->refusal_ = thrown_by_codec();
}

std::string thrown_by_codec() {
  const std::string words(kThrown);
  try {
    throw;
  } catch (const std::exception& thrown) {
    return words + ": " + thrown.what();
  } catch (...) {
    return words;
  }
}

bool is_thrown_by_codec(std::string_view reason) noexcept {
  return reason.find(kThrown) != std::string_view::npos;
}

}  // namespace mf::codec
