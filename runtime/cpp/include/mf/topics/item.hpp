// One published message, shared by all queues and subscribers of the process: the value, its bytes, or both.
// Each is made from the other at most once, when it is first needed.
//
// The creator of an item sets its fields before it is published; they are constant from then on. Items have
// an intrusive reference count, so that the uses of many queues are added in one step.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "mf/codec/value.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/error.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/types.hpp"

namespace mf::topics {

/// How often values were encoded, decoded and copied.
struct Counters {
  std::atomic<std::uint64_t> encoded{0};
  std::atomic<std::uint64_t> decoded{0};
  std::atomic<std::uint64_t> undecodable{0};
  std::atomic<std::uint64_t> copied{0};
};

/// The origin of messages: one publisher, topic and agent.
struct Origin {
  std::string topic;
  std::string agent;  // as it is sent
  Uuid publisher;
  std::shared_ptr<Counters> counters;
  std::uint32_t keep = 0;  // messages that are kept for replay
  std::string where{};     // the address of a remote publisher
  std::string shown{};     // the agent as users read it, who have messages of this origin
};

class Item {
 public:
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  virtual ~Item() = default;

  /// The encoded value, in the tier of its type. Throws if it cannot be encoded.
  [[nodiscard]] const Bytes& payload() {
    if (!encoded_.load(std::memory_order_acquire)) [[unlikely]]
      encode_now();
    return payload_;
  }

  void add_users(std::size_t more) noexcept { users_.fetch_add(more, std::memory_order_relaxed); }
  void release() noexcept {
    if (sole_user() || users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool sole_user() const noexcept { return users_.load(std::memory_order_acquire) == 1; }

  std::shared_ptr<const Origin> origin;
  std::uint64_t sequence = 0;
  Timestamp time{};
  std::size_t size = 0;                    // bytes, for the bounds of queues
  std::shared_ptr<const Failure> fault{};  // why it has no value in the subscriber's schema

 protected:
  Item() = default;
  [[nodiscard]] virtual Bytes encode() = 0;
  void set_payload(Bytes payload) noexcept {
    payload_ = std::move(payload);
    encoded_.store(true, std::memory_order_release);
  }
  void forget_payload() noexcept {
    encoded_.store(false, std::memory_order_relaxed);
    payload_.clear();
  }
  std::mutex making_;  // held while encoding or decoding
  Bytes payload_;

 private:
  void encode_now();

  std::atomic<std::size_t> users_{1};
  std::atomic<bool> encoded_{false};
};

/// One counted reference to an item.
class ItemRef {
 public:
  ItemRef() noexcept = default;
  /// Takes over one reference.
  explicit ItemRef(Item* item) noexcept : item_(item) {}
  ItemRef(const ItemRef& other) noexcept : item_(other.item_) {
    if (item_ != nullptr) item_->add_users(1);
  }
  ItemRef(ItemRef&& other) noexcept : item_(std::exchange(other.item_, nullptr)) {}
  ItemRef& operator=(ItemRef other) noexcept {
    std::swap(item_, other.item_);
    return *this;
  }
  ~ItemRef() {
    if (item_ != nullptr) item_->release();
  }
  explicit operator bool() const noexcept { return item_ != nullptr; }
  [[nodiscard]] Item* get() const noexcept { return item_; }
  /// Passes its reference on to somebody who has the pointer.
  void give_up() noexcept { item_ = nullptr; }
  Item* operator->() const noexcept { return item_; }
  Item& operator*() const noexcept { return *item_; }

 private:
  Item* item_ = nullptr;
};

/// A message as its undecoded bytes.
class Unread final : public Item {
 public:
  explicit Unread(Bytes payload) {
    size = payload.size();
    set_payload(std::move(payload));
  }
  [[nodiscard]] static Item* received(Bytes payload) { return new Unread(std::move(payload)); }

 private:
  Bytes encode() override { return payload_; }  // available from the start
};

template <class T>
class ItemOf final : public Item {
 public:
  explicit ItemOf(T value) : own_(std::move(value)), value_(&*own_), made_(true) {}
  /// The value belongs to others, too.
  explicit ItemOf(std::shared_ptr<const T> value)
      : others_(std::move(value)), value_(others_.get()), made_(true) {}
  explicit ItemOf(Bytes payload) {
    size = payload.size();
    set_payload(std::move(payload));
  }
  /// An item from a remote publisher.
  [[nodiscard]] static Item* received(Bytes payload) { return new ItemOf(std::move(payload)); }

  /// Throws DECODE_ERROR, or INVALID_ARGUMENT for a value that breaks its constraints.
  [[nodiscard]] const T& value() {
    if (!made_.load(std::memory_order_acquire)) [[unlikely]]
      decode_now();
    return *value_;
  }
  /// The result counts among the users of this item, as long as the item holds the value.
  [[nodiscard]] std::shared_ptr<const T> share() {
    (void)value();
    if (others_) return others_;
    add_users(1);
    return {value_, [item = ItemRef(this)](const T*) {}};
  }
  /// The mutable value, if this is the only reference and the value is not shared; else null.
  [[nodiscard]] T* mine() {
    (void)value();
    if (!own_ || !sole_user()) return nullptr;
    forget_payload();
    return &*own_;
  }
  /// The same message with a value of its own.
  [[nodiscard]] Item* copy() {
    auto* const made = new ItemOf(T(value()));
    made->origin = origin;
    made->sequence = sequence;
    made->time = time;
    made->size = size;
    origin->counters->copied.fetch_add(1, std::memory_order_relaxed);
    return made;
  }

 private:
  Bytes encode() override {
    if constexpr (requires { codec::Archive<T>::bytes(*value_); }) {
      return Bytes(codec::Archive<T>::bytes(*value_));
    } else {
      Buffer out;
      out.resize(codec::checked_size(*value_));
      codec::Writer writer(out.data());
      codec::encode<codec::kTierOf<T>>(writer, *value_, out.size());
      return Bytes(std::move(out));
    }
  }

  void decode_now() {
    const std::scoped_lock lock(making_);
    if (made_.load(std::memory_order_relaxed)) return;
    if (fault) {
      origin->counters->undecodable.fetch_add(1, std::memory_order_relaxed);
      fault->raise();
    }
    auto decoded = mf::from_bytes<T>(payload_);
    if (!decoded) {
      origin->counters->undecodable.fetch_add(1, std::memory_order_relaxed);
      throw Error(
          decoded.error().code, Execution::unknown,
          "message " + std::to_string(sequence) + " of " + origin->topic + ": " + decoded.error().message());
    }
    value_ = &own_.emplace(std::move(*decoded));
    origin->counters->decoded.fetch_add(1, std::memory_order_relaxed);
    made_.store(true, std::memory_order_release);
  }

  std::optional<T> own_{};
  std::shared_ptr<const T> others_{};
  const T* value_ = nullptr;  // in one of these
  std::atomic<bool> made_{false};
};

}  // namespace mf::topics
