// The constants that generated code defines for a topic.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"
#include "mf/topics.hpp"
#include "mf/topics/options.hpp"

namespace mf::topics {

/// The one method of every topic on the wire (runtime/idl/mf/topics.mfidl). No method of a service has this
/// name, so that a relay, which has no schema, recognizes the BIND of a topic.
inline constexpr std::array<std::string_view, 1> kMethods{"topic.subscribe"};

/// The bit of a policy in TopicInfo::overflow.
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
  /// The name, fingerprint and descriptor of the topic; as a service it has no agents.
  const ServiceInfo& service;
  bool per_agent = false;
  /// `@replay`: how many messages of each agent are kept.
  std::uint32_t replay = 0;
  /// `@overflow`: the policies that subscribers may choose, by bit().
  std::uint8_t overflow = kAnyOverflow;
  /// The policy if the subscriber chooses none.
  Overflow default_overflow = Overflow::drop_oldest;

  [[nodiscard]] std::string_view name() const noexcept { return service.name; }
};

/// An agent or pattern that a user has given, as it is sent: for a member of an enum its number. Throws
/// INVALID_ARGUMENT for what no agent of the topic can be, since its subscriber would wait in vain.
[[nodiscard]] std::string sent_pattern(const TopicInfo& topic, std::string_view agents);
/// Why the topic has no such agent, given as it is sent; empty if it may have it.
[[nodiscard]] std::string type_refusal(const TopicInfo& topic, std::string_view agent);
/// What was sent as users read it: for a member of an enum its name.
[[nodiscard]] std::string shown_agent(const TopicInfo& topic, std::string_view sent);

/// Calls TopicsOptions::authorize; throws PERMISSION_DENIED if it returns false.
void check_access(const TopicsOptions& options, const TopicAccess& access);

/// Throws INVALID_ARGUMENT for a policy that the topic does not allow, and for an invalid pattern.
void check_subscription(const TopicInfo& topic, Overflow overflow, std::string_view agents);

}  // namespace mf::topics
