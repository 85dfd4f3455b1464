// What generated code says of a topic: constants.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"
#include "mf/topics.types.hpp"
#include "mf/topics/options.hpp"

namespace mf::topics {

/// The one method of every topic on the wire (runtime/idl/mf/topics.mfidl). No method of a service has such a
/// name: so who knows no schema, a relay, sees that a topic is bound.
inline constexpr std::array<std::string_view, 1> kMethods{"topic.subscribe"};

/// Policies as TopicInfo::overflow has them.
[[nodiscard]] constexpr std::uint8_t bit(Overflow overflow) noexcept {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(overflow));
}
inline constexpr std::uint8_t kAnyOverflow = 0b1111;
[[nodiscard]] constexpr std::uint8_t any_of(std::initializer_list<Overflow> allowed) noexcept {
  std::uint8_t bits = 0;
  for (const auto each : allowed) bits = static_cast<std::uint8_t>(bits | bit(each));
  return bits;
}

struct TopicInfo {
  /// Its name, fingerprint and descriptor; as a service it has no agents.
  const ServiceInfo& service;
  bool per_agent = false;
  /// `@replay`: so many messages of each agent are kept.
  std::uint32_t replay = 0;
  /// `@overflow`: the policies that subscribers may choose, by bit().
  std::uint8_t overflow = kAnyOverflow;
  /// Of a subscriber who does not choose.
  Overflow default_overflow = Overflow::drop_oldest;

  [[nodiscard]] std::string_view name() const noexcept { return service.name; }
};

/// Asks TopicsOptions::authorize; throws PERMISSION_DENIED.
void check_access(const TopicsOptions& options, const TopicAccess& access);

/// Throws INVALID_ARGUMENT for one that the topic does not allow, or a pattern that it cannot have.
void check_subscription(const TopicInfo& topic, Overflow overflow, std::string_view agents);

}  // namespace mf::topics
