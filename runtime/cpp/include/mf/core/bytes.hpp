#pragma once
// `bytes` of the schema: an immutable slice of memory with a reference count on it.
//
// A copy shares the memory, whatever its size, and any thread may hold one. Moving a vector, a string or a
// Buffer into it costs no copy; other sources are copied. mutate() gives write access: it copies only if the
// memory is shared or borrowed. A slice of fewer than kShareFrom bytes is copied, so that twenty bytes do not
// keep sixteen megabytes alive.
//
//   mf::Bytes page(std::move(vector));        no copy
//   mf::Bytes title = page.slice(0, 16);      a copy of 16 bytes
//   mf::Bytes body = page.slice(16);          shares the page's memory, if the body is large
//   body.mutate()[0] = std::byte{1};          copies first, since `page` shares it
//
// Layout of memory of its own: | BytesOwner (32) | the bytes |. A Buffer that was moved in keeps its layout,
// with the owner at the start of its headroom.

#include <atomic>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>  // std::hash, for less than <functional>
#include <utility>
#include <vector>

namespace mf {

class Buffer;

namespace detail {

/// The owner of memory that slices keep alive.
struct BytesOwner {
  std::atomic<std::size_t> users{1};
  void (*release)(BytesOwner* owner) noexcept = nullptr;
  std::byte* memory = nullptr;  // memory that a sole user may write to; null: it is read-only
  std::size_t capacity = 0;
};

/// Keeps the object that owns the memory.
template <class T>
struct HoldingOwner final : BytesOwner {
  explicit HoldingOwner(T&& from) : held(std::move(from)) {
    release = [](BytesOwner* owner) noexcept { delete static_cast<HoldingOwner*>(owner); };
  }
  T held;
};

}  // namespace detail

class Bytes {
 public:
  using value_type = std::byte;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using const_reference = const std::byte&;
  using reference = const_reference;
  using const_iterator = const std::byte*;
  using iterator = const_iterator;

  /// Slices of fewer bytes are copied instead of sharing the memory.
  static constexpr std::size_t kShareFrom = 4096;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  Bytes() noexcept = default;
  Bytes(const Bytes& other) noexcept : data_(other.data_), size_(other.size_), owner_(other.owner_) {
    if (owner_ != nullptr) owner_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Bytes(Bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Bytes& operator=(const Bytes& other) noexcept {
    Bytes(other).swap(*this);
    return *this;
  }
  Bytes& operator=(Bytes&& other) noexcept {
    Bytes taken(std::move(other));
    taken.swap(*this);
    return *this;
  }
  ~Bytes() { let_go(); }

  /// Takes over the memory of the argument; a few bytes are copied nevertheless.
  Bytes(std::vector<std::byte> bytes);
  explicit Bytes(std::string text);
  explicit Bytes(Buffer&& buffer);
  /// Borrows memory that does not change or move while `owner`, which is moved in, lives: a std::shared_ptr,
  /// or a mapped file.
  template <class Owner>
  Bytes(Owner owner, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    owner_ = new detail::HoldingOwner<Owner>(std::move(owner));
    data_ = bytes.data();
    size_ = bytes.size();
  }
  /// Copies the bytes.
  explicit Bytes(std::span<const std::byte> bytes) { assign(bytes); }
  Bytes(std::initializer_list<std::byte> bytes) { assign({bytes.begin(), bytes.size()}); }
  explicit Bytes(std::size_t size, std::byte value = std::byte{0});
  /// Uninitialised bytes of this size, to be filled by mutate().
  [[nodiscard]] static Bytes with_size(std::size_t size);

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const std::byte* begin() const noexcept { return data_; }
  [[nodiscard]] const std::byte* end() const noexcept { return data_ + size_; }
  [[nodiscard]] const std::byte& operator[](std::size_t index) const noexcept { return data_[index]; }
  [[nodiscard]] const std::byte& front() const noexcept { return *data_; }
  [[nodiscard]] const std::byte& back() const noexcept { return data_[size_ - 1]; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data_, size_}; }
  /// The bytes as text.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(data_), size_};
  }
  [[nodiscard]] std::vector<std::byte> to_vector() const { return {begin(), end()}; }

  /// Up to `count` bytes from `first` on; throws std::out_of_range as std::string::substr() does. Shares the
  /// memory unless they are few.
  [[nodiscard]] Bytes slice(std::size_t first, std::size_t count = npos) const;
  /// The same for a part, which must lie within span().
  [[nodiscard]] Bytes cut(std::span<const std::byte> part) const {
    return part.size() < kShareFrom && part.size() < size_ ? Bytes(part) : Bytes(*this, part);
  }

  /// Write access to the bytes until the next copy of this is made. Copies them first if they are shared.
  [[nodiscard]] std::span<std::byte> mutate() {
    if (!sole_user() || owner_->memory == nullptr) unshare();
    return {const_cast<std::byte*>(data_), size_};
  }
  /// Copies these bytes from elsewhere, into the current memory if this is its only user and its size fits,
  /// neither too small nor much too large.
  void assign(std::span<const std::byte> bytes) {
    if (!bytes.empty() && sole_user() && bytes.size() <= owner_->capacity &&
        (owner_->capacity <= kShareFrom || owner_->capacity / 2 <= bytes.size())) {
      data_ = owner_->memory;
      size_ = bytes.size();
      copy_to(owner_->memory, bytes);
    } else {
      assign_anew(bytes);
    }
  }
  void clear() noexcept { Bytes().swap(*this); }
  void swap(Bytes& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
  }
  /// Whether both share the same memory, so that neither is a copy of the other.
  [[nodiscard]] bool shares_with(const Bytes& other) const noexcept {
    return owner_ != nullptr && owner_ == other.owner_;
  }

  friend bool operator==(const Bytes& left, const Bytes& right) noexcept {
    return left.text() == right.text();
  }
  friend std::strong_ordering operator<=>(const Bytes& left, const Bytes& right) noexcept {
    return left.text() <=> right.text();
  }

 private:
  friend class Buffer;

  Bytes(const Bytes& other, std::span<const std::byte> part) noexcept : Bytes(other) {
    data_ = part.data();
    size_ = part.size();
  }
  [[nodiscard]] bool sole_user() const noexcept {
    return owner_ != nullptr && owner_->users.load(std::memory_order_acquire) == 1;
  }
  void let_go() noexcept {
    if (owner_ != nullptr && (sole_user() || owner_->users.fetch_sub(1, std::memory_order_acq_rel) == 1))
      owner_->release(owner_);
  }
  static void copy_to(std::byte* to, std::span<const std::byte> bytes) noexcept;
  void assign_anew(std::span<const std::byte> bytes);
  void unshare();

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  detail::BytesOwner* owner_ = nullptr;
};

}  // namespace mf

template <>
struct std::hash<mf::Bytes> {
  [[nodiscard]] std::size_t operator()(const mf::Bytes& bytes) const noexcept {
    return std::hash<std::string_view>()(bytes.text());
  }
};
