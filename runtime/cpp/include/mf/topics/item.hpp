// One published message, shared by all queues and subscribers of the process: the value, its bytes, or both.
// Each is made from the other at most once, when it is first needed.
//
// The creator of an item sets its fields before it is published; they are constant from then on. Items have
// an intrusive reference count, so that the uses of many queues are added in one step.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mf/codec/value.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/error.hpp"
#include "mf/core/flag.hpp"
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
  std::string shown{};     // the agent as the users of its messages read it
};

/// Memory for items, of `size` bytes and aligned as malloc's. Items are made by one thread and released by
/// another; malloc, which pays for that, is asked only for what is not kept of earlier ones.
[[nodiscard]] void* take_item_memory(std::size_t size);
void give_item_memory(void* memory, std::size_t size) noexcept;

/// Layout of its memory: | the item | the encoded value, if it is small |.
class Item {
 public:
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  virtual ~Item() = default;

  /// The encoded value, in the tier of its type. Throws if it cannot be encoded.
  [[nodiscard]] std::span<const std::byte> payload() {
    if (!has_payload()) [[unlikely]]
      encode_now();
    return payload_;
  }
  [[nodiscard]] bool has_payload() const noexcept { return encoded_.load(std::memory_order_acquire); }
  /// The encoded value, which outlives the item; a small one is copied.
  [[nodiscard]] Bytes keep_payload() {
    const auto bytes = payload();
    return held_.empty() ? Bytes(bytes) : held_;
  }

  void add_users(std::size_t more) noexcept {
    users_.fetch_add(static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }
  void release() noexcept {
    if (sole_user() || users_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  [[nodiscard]] bool sole_user() const noexcept { return users_.load(std::memory_order_acquire) == 1; }

  std::shared_ptr<const Origin> origin;
  std::uint64_t sequence = 0;
  Timestamp time{};
  std::size_t size = 0;                    // bytes, for the bounds of queues
  std::shared_ptr<const Failure> fault{};  // why it has no value in the subscriber's schema

 protected:
  Item() = default;
  /// Makes an `I` with so many bytes behind it.
  template <class I, class... Args>
  [[nodiscard]] static I* make(std::size_t room, Args&&... args) {
    static_assert(alignof(I) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    const std::size_t size = sizeof(I) + room;
    void* const memory = take_item_memory(size);
    try {
      auto* const made = new (memory) I(std::forward<Args>(args)...);
      made->memory_ = size;
      return made;
    } catch (...) {
      give_item_memory(memory, size);
      throw;
    }
  }
  /// Makes an `I` of bytes; few are copied behind it.
  template <class I>
  [[nodiscard]] static I* of_bytes(Bytes&& payload) {
    const std::size_t size = payload.size();
    const bool is_small = size < Bytes::kShareFrom;
    auto* const made = make<I>(is_small ? size : 0);
    made->size = size;
    if (is_small) {
      std::copy_n(payload.data(), size, made->template room<I>());
      made->set_payload(std::span<const std::byte>(made->template room<I>(), size));
    } else {
      made->set_payload(std::move(payload));
    }
    return made;
  }
  /// The memory behind an `I`.
  template <class I>
  [[nodiscard]] std::byte* room() noexcept {
    return reinterpret_cast<std::byte*>(static_cast<I*>(this) + 1);
  }

  [[nodiscard]] virtual Bytes encode() = 0;
  /// These bytes lie behind the item.
  void set_payload(std::span<const std::byte> bytes) noexcept {
    payload_ = bytes;
    encoded_.store(true, std::memory_order_release);
  }
  void set_payload(Bytes bytes) noexcept {
    held_ = std::move(bytes);
    set_payload(held_.span());
  }
  void forget_payload() noexcept {
    encoded_.store(false, std::memory_order_relaxed);
    payload_ = {};
    held_.clear();
  }
  [[nodiscard]] const Bytes& held() const noexcept { return held_; }

  Flag making_;  // held while encoding or decoding

 private:
  void encode_now();
  void destroy() noexcept {
    const std::size_t memory = memory_;
    this->~Item();
    give_item_memory(this, memory);
  }

  std::atomic<bool> encoded_{false};
  std::atomic<std::uint32_t> users_{1};
  std::size_t memory_ = 0;  // its bytes
  std::span<const std::byte> payload_{};
  Bytes held_{};  // a payload that does not lie behind the item
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
  /// Gives up its reference without releasing it: the caller has the pointer, and releases it.
  void give_up() noexcept { item_ = nullptr; }
  Item* operator->() const noexcept { return item_; }
  Item& operator*() const noexcept { return *item_; }

 private:
  Item* item_ = nullptr;
};

/// A message as its undecoded bytes.
class Unread final : public Item {
 public:
  /// Takes the bytes over, unless they are few.
  [[nodiscard]] static Item* received(Bytes&& payload) { return of_bytes<Unread>(std::move(payload)); }

 private:
  friend class Item;
  Unread() = default;
  Bytes encode() override { return keep_payload(); }  // available from the start
};

template <class T>
class ItemOf final : public Item {
 public:
  [[nodiscard]] static ItemOf* of(T value) { return Item::make<ItemOf>(0, std::move(value)); }
  /// The value belongs to others, too.
  [[nodiscard]] static ItemOf* of(std::shared_ptr<const T> value) {
    return Item::make<ItemOf>(0, std::move(value));
  }
  /// An item from a remote publisher. Takes the bytes over, unless they are few.
  [[nodiscard]] static Item* received(Bytes&& payload) { return of_bytes<ItemOf>(std::move(payload)); }
  /// An item for subscribers elsewhere alone: the value as its bytes. Throws if it cannot be encoded.
  [[nodiscard]] static ItemOf* encoded(const T& value) {
    if constexpr (!kHasOwnBytes) {
      const std::size_t size = codec::checked_size(value);
      if (size < Bytes::kShareFrom) {
        auto* const made = Item::make<ItemOf>(size);
        auto* const room = made->template room<ItemOf>();
        codec::Writer writer(room);
        codec::encode<codec::kTierOf<T>>(writer, value, size);
        made->size = size;
        made->set_payload(std::span<const std::byte>(room, size));
        return made;
      }
    }
    Bytes payload = bytes_of(value);
    auto* const made = Item::make<ItemOf>(0);
    made->size = payload.size();
    made->set_payload(std::move(payload));
    return made;
  }

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
    auto* const made = of(T(value()));
    made->origin = origin;
    made->sequence = sequence;
    made->time = time;
    made->size = size;
    origin->counters->copied.fetch_add(1, std::memory_order_relaxed);
    return made;
  }

 private:
  friend class Item;
  static constexpr bool kHasOwnBytes = requires(const T& value) { codec::Archive<T>::bytes(value); };

  ItemOf() = default;
  explicit ItemOf(T&& value) : own_(std::move(value)), value_(&*own_), made_(true) {}
  explicit ItemOf(std::shared_ptr<const T>&& value)
      : others_(std::move(value)), value_(others_.get()), made_(true) {}

  [[nodiscard]] static Bytes bytes_of(const T& value) {
    if constexpr (kHasOwnBytes) {
      return Bytes(codec::Archive<T>::bytes(value));
    } else {
      Buffer out;
      out.resize(codec::checked_size(value));
      codec::Writer writer(out.data());
      codec::encode<codec::kTierOf<T>>(writer, value, out.size());
      return Bytes(std::move(out));
    }
  }
  Bytes encode() override { return bytes_of(*value_); }

  void decode_now() {
    const std::scoped_lock lock(making_);
    if (made_.load(std::memory_order_relaxed)) return;
    if (fault) {
      origin->counters->undecodable.fetch_add(1, std::memory_order_relaxed);
      fault->raise();
    }
    auto decoded = held().empty() ? mf::from_bytes<T>(payload()) : mf::from_bytes<T>(held());
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
