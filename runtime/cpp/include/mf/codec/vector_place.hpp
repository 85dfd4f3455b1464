// R1. What std::vector has no step for: to be overwritten at once, to grow by an element that is made in one
// go, and to get room for elements that are about to be overwritten, without moving those that it has.
//
// resize() writes every new element before the caller does, insert() copies one by one whatever has default
// values, and emplace_back() of a struct whose members have default values writes zeros all over it before
// them, by an instruction that is slow to begin. So this sets the places of a vector of libstdc++ itself, as
// folly's and struct_pack's do; with another standard library it does as resize() and emplace_back() do.
// reserve() and resize() of a struct are also the slowest functions to compile of all that read it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace mf::codec::detail {

// Checked vectors keep more than their places.
#if defined(__GLIBCXX__) && !defined(_GLIBCXX_DEBUG) && !defined(_GLIBCXX_SANITIZE_VECTOR)

template <class T>
class VectorPlace : std::vector<T> {
 public:
  /// Gives the vector `count` elements, and their place. The caller writes all of them before anything else
  /// looks at them.
  [[nodiscard, gnu::always_inline]] static T* overwrite(std::vector<T>& values, std::size_t count)
    requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
  {
    if (count > values.capacity()) exchange(values, count);
    set_end(values, values.data() + count);
    return values.data();
  }

  /// A new element at the end, for which there is room, of a type that gives every member a value: of another
  /// one, members would be what lay there before.
  [[nodiscard]] static T& append(std::vector<T>& values) {
    T* const place = values.data() + values.size();
    std::uninitialized_default_construct_n(place, 1);
    set_end(values, place + 1);
    return *place;
  }

  /// Leaves at most `count` elements, and room for so many: none are left if the vector has to grow.
  static void make_room(std::vector<T>& values, std::size_t count) {
    if (count > values.capacity()) {
      exchange(values, count);
    } else if (count < values.size()) {
      drop_behind(values, count);
    }
  }

 private:
  /// As clear() and reserve(), in a third of the steps, since there is nothing to move.
  static void exchange(std::vector<T>& values, std::size_t capacity) {
    if (values.capacity() != 0) [[unlikely]] {
      release(values);
    }
    auto& place = values.*(&VectorPlace::_M_impl);
    place._M_start = place._M_finish = std::allocator<T>().allocate(capacity);
    place._M_end_of_storage = place._M_start + capacity;
  }
  /// As std::vector<T>().swap(values).
  [[gnu::noinline]] static void release(std::vector<T>& values) noexcept {
    drop_behind(values, 0);
    auto& place = values.*(&VectorPlace::_M_impl);
    std::allocator<T>().deallocate(place._M_start, values.capacity());
    place._M_start = place._M_finish = place._M_end_of_storage = nullptr;
  }
  /// Drops the elements from `count` on.
  [[gnu::cold, gnu::noinline]] static void drop_behind(std::vector<T>& values, std::size_t count) noexcept {
    T* const end = values.data() + count;
    std::destroy(end, values.data() + values.size());
    set_end(values, end);
  }
  static void set_end(std::vector<T>& values, T* end) noexcept {
    (values.*(&VectorPlace::_M_impl))._M_finish = end;
  }
};

#else

template <class T>
struct VectorPlace {
  [[nodiscard]] static T* overwrite(std::vector<T>& values, std::size_t count) {
    values.resize(count);
    return values.data();
  }
  [[nodiscard]] static T& append(std::vector<T>& values) { return values.emplace_back(); }
  static void make_room(std::vector<T>& values, std::size_t count) {
    if (count < values.size()) values.resize(count);
    values.reserve(count);
  }
};

#endif

template <class T>
[[nodiscard, gnu::always_inline]] inline T* overwrite(std::vector<T>& values, std::size_t count) {
  return VectorPlace<T>::overwrite(values, count);
}

}  // namespace mf::codec::detail
