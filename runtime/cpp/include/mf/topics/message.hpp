// A message that a subscriber has received.
//
//   message.value()      shared by all holders of this message; decoded at the first call
//   message.mutate()     a private, mutable value: copied only if the value may be shared
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "mf/core/types.hpp"
#include "mf/topics/item.hpp"

namespace mf {

template <class T>
class TopicMessage {
 public:
  TopicMessage() = default;
  TopicMessage(topics::ItemRef item, std::uint64_t missed) noexcept
      : item_(std::move(item)), missed_(missed) {}

  /// Throws DECODE_ERROR for bytes of a remote publisher that are not a value of the schema.
  [[nodiscard]] const T& value() const { return typed().value(); }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  /// The value, which may outlive the message.
  [[nodiscard]] std::shared_ptr<const T> share() const { return typed().share(); }
  /// Copies of this message, and values that share() returned, are not changed.
  [[nodiscard]] T& mutate() {
    if (T* const mine = typed().mine()) return *mine;
    item_ = topics::ItemRef(typed().copy());
    return *typed().mine();
  }

  [[nodiscard]] const std::string& topic() const noexcept { return item_->origin->topic; }
  /// The agent as text: for a member of an enum its name.
  [[nodiscard]] const std::string& agent() const noexcept { return item_->origin->shown; }
  /// The number of the message for its publisher and agent, from 1.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return item_->sequence; }
  /// Unique for each run of a publishing process.
  [[nodiscard]] const Uuid& publisher() const noexcept { return item_->origin->publisher; }
  /// The time of publication, by the publisher's clock.
  [[nodiscard]] Timestamp time() const noexcept { return item_->time; }
  /// How many messages of this publisher and agent were missed just before this one.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  [[nodiscard]] topics::ItemOf<T>& typed() const noexcept { return static_cast<topics::ItemOf<T>&>(*item_); }

  topics::ItemRef item_;
  std::uint64_t missed_ = 0;
};

}  // namespace mf
