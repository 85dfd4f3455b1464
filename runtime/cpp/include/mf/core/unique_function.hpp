#pragma once
// UniqueFunction<R(Args...)>: a callable that can be moved, not copied (std::move_only_function is C++23).
// Callables of up to 48 bytes with a noexcept move are stored inside, so that a completion handler needs no
// allocation. Calling an empty one is undefined.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace mf {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  static constexpr std::size_t kInside = 48;

  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>)
  UniqueFunction(F&& callable) {
    using Callable = std::remove_cvref_t<F>;
    if constexpr (kFits<Callable>) {
      ::new (static_cast<void*>(storage_)) Callable(std::forward<F>(callable));
      operations_ = &kInsideOperations<Callable>;
    } else {
      ::new (static_cast<void*>(storage_)) Callable*(new Callable(std::forward<F>(callable)));
      operations_ = &kOutsideOperations<Callable>;
    }
  }
  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { destroy(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }
  R operator()(Args... args) { return operations_->call(storage_, std::forward<Args>(args)...); }

 private:
  struct Operations {
    R (*call)(std::byte*, Args&&...);
    void (*move)(std::byte* from, std::byte* to) noexcept;  // null: the bytes can be copied
    void (*destroy)(std::byte*) noexcept;                   // null: there is nothing to do
  };

  template <class C>
  static constexpr bool kFits = sizeof(C) <= kInside && alignof(C) <= alignof(std::max_align_t) &&
                                std::is_nothrow_move_constructible_v<C>;

  template <class C>
  static C& inside(std::byte* at) noexcept {
    return *std::launder(reinterpret_cast<C*>(at));
  }

  template <class C>
  static R invoke(C& callable, Args&&... args) {
    if constexpr (std::is_void_v<R>)
      static_cast<void>(callable(std::forward<Args>(args)...));
    else
      return callable(std::forward<Args>(args)...);
  }

  template <class C>
  static constexpr Operations kInsideOperations{
      [](std::byte* at, Args&&... args) -> R { return invoke(inside<C>(at), std::forward<Args>(args)...); },
      std::is_trivially_copyable_v<C> ? nullptr : +[](std::byte* from, std::byte* to) noexcept {
        ::new (static_cast<void*>(to)) C(std::move(inside<C>(from)));
        inside<C>(from).~C();
      },
      std::is_trivially_destructible_v<C> ? nullptr : +[](std::byte* at) noexcept { inside<C>(at).~C(); }};

  template <class C>
  static constexpr Operations kOutsideOperations{
      [](std::byte* at, Args&&... args) -> R { return invoke(*inside<C*>(at), std::forward<Args>(args)...); },
      [](std::byte* from, std::byte* to) noexcept { ::new (static_cast<void*>(to)) C*(inside<C*>(from)); },
      [](std::byte* at) noexcept { delete inside<C*>(at); }};

  void take(UniqueFunction& other) noexcept {
    if (other.operations_ != nullptr) {
      if (other.operations_->move == nullptr) {
        std::memcpy(storage_, other.storage_, kInside);
      } else {
        other.operations_->move(other.storage_, storage_);
      }
      operations_ = std::exchange(other.operations_, nullptr);
    }
  }
  void destroy() noexcept {
    const auto* const operations = std::exchange(operations_, nullptr);
    if (operations != nullptr && operations->destroy != nullptr) operations->destroy(storage_);
  }

  alignas(std::max_align_t) std::byte storage_[kInside];
  const Operations* operations_ = nullptr;
};

}  // namespace mf
