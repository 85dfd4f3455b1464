// A message as a subscriber has it.
//
//   message.value()      what all who have this message share; decoded when it is first asked for
//   message.mutate()     one's own, to be changed: copied only if somebody else may see it
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

  /// Throws DECODE_ERROR for bytes of a publisher elsewhere that are no value of the schema.
  [[nodiscard]] const T& value() const { return typed().value(); }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  /// The value beyond the life of the message.
  [[nodiscard]] std::shared_ptr<const T> share() const { return typed().share(); }
  /// Copies of this message, and whatever share() gave, keep the value that they have.
  [[nodiscard]] T& mutate() {
    if (T* const mine = typed().mine()) return *mine;
    item_ = topics::ItemRef(typed().copy());
    return *typed().mine();
  }

  [[nodiscard]] const std::string& topic() const noexcept { return item_->origin->topic; }
  /// As it travels: of a member of an enum the number.
  [[nodiscard]] const std::string& agent() const noexcept { return item_->origin->agent; }
  /// Counts the messages of its publisher and agent, from 1 on.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return item_->sequence; }
  /// Another one for each process, whenever it starts anew.
  [[nodiscard]] const Uuid& publisher() const noexcept { return item_->origin->publisher; }
  /// When it was published, by the clock of its publisher.
  [[nodiscard]] Timestamp time() const noexcept { return item_->time; }
  /// So many messages of this publisher and agent, just before this one, were missed.
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  [[nodiscard]] topics::ItemOf<T>& typed() const noexcept { return static_cast<topics::ItemOf<T>&>(*item_); }

  topics::ItemRef item_;
  std::uint64_t missed_ = 0;
};

}  // namespace mf
