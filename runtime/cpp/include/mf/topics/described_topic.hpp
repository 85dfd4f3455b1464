// A topic as its description says (`mfidlc descriptor --topic`): the descriptor's text and the annex's, one
// behind the other (docs/protocol.md, 7 and 7a). Bridges and the HTTP door need no generated code beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mf/core/service.hpp"
#include "mf/topics/topic.hpp"

namespace mf::topics {

/// "febird"
[[nodiscard]] std::string_view name(Tier tier) noexcept;

class DescribedTopic {
 public:
  /// Throws INVALID_ARGUMENT, in words, for a text that is no description of a topic.
  explicit DescribedTopic(std::string text);
  /// The same for the text of a file.
  [[nodiscard]] static std::unique_ptr<DescribedTopic> of_file(const std::string& path);
  DescribedTopic(const DescribedTopic&) = delete;
  DescribedTopic& operator=(const DescribedTopic&) = delete;

  [[nodiscard]] const TopicInfo& info() const noexcept { return info_; }
  /// Of its values.
  [[nodiscard]] Tier tier() const noexcept { return tier_; }

 private:
  const std::string text_;
  ServiceInfo service_;
  Tier tier_ = Tier::febird;
  TopicInfo info_;
};

}  // namespace mf::topics
