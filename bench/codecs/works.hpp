// The works of the bench, by name: each library does every work whose value it supports.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codec.hpp"
#include "values.hpp"

namespace bench_codecs {

inline constexpr auto kCounts = std::to_array<std::size_t>({10, 100, 500, 1'000, 10'000, 100'000});
inline constexpr auto kDepths = std::to_array<std::size_t>({1, 2, 4, 8, 16, 32});
inline constexpr auto kSizes = std::to_array<std::size_t>({0, 8, 16, 64, 256, 1'024, 4'096});

/// Calls visit(name, make) for each work; make() returns the value.
template <class Visit>
void each_work(Visit&& visit) {
  visit("list_i32_100k", [] { return ints(100'000); });
  visit("list_pod_100k", [] { return pods(100'000); });
  visit("heartbeat", heartbeat);
  visit("search_result", search_result);
  visit("list_i32_1k", [] { return small_ints(1'000); });
  visit("map_i32_100k", [] { return int_map(100'000); });
  visit("string_izensoft", text);
  visit("map_string_100k", [] { return string_map(100'000); });
  for (const std::size_t count : kCounts) {
    const auto size = std::to_string(count);
    visit("int_list_" + size, [count] { return ints(count); });
    visit("double_list_" + size, [count] { return doubles(count); });
    visit("string_list_" + size, [count] { return strings(count); });
  }
  visit("composite_c0", c0);
  visit("composite_c1", c1);
  visit("composite_c2", c2);
  visit("composite_c3", c3);
  visit("composite_c4", c4);
  visit("composite_c5", c5);
  visit("fields_1", fields<payload::Fields1>);
  visit("fields_4", fields<payload::Fields4>);
  visit("fields_16", fields<payload::Fields16>);
  visit("fields_48", fields<payload::Fields48>);
  for (const std::size_t depth : kDepths) {
    visit("depth_" + std::to_string(depth), [depth] { return nested(depth); });
  }
  for (const std::size_t size : kSizes) {
    visit("string_size_" + std::to_string(size), [size] { return strings_of(16, size); });
  }
}

/// Whether a library's Number is a struct, and not a class with accessors as protobuf's.
template <class T>
concept PlainNumber = requires(T number) { number.value = 1; };
template <class T>
concept NumberOfFunctions = requires(T number) { number.set_value(1); };

/// The report's table 3: items of int and string are inserted into a hash table that keeps them serialized.
/// One run inserts all items; there is nothing to read.
template <template <class> class System>
class HashInsert final : public Codec {
 public:
  explicit HashInsert(std::size_t count) : count_(count) {
    System<payload::Text>::make(text(), text_);
    System<payload::Number>::make({}, number_);
    bytes_ = keys_.write(number_).size() + values_.write(text_).size();
    clear();
  }

  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] const char* mistake() override { return nullptr; }
  [[nodiscard]] bool does(Step step) const override { return step == Step::serialize; }

  void run(Step /*step*/, std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      if (next_ == count_) clear();
      renumber(static_cast<std::int32_t>(next_++));
      table_.emplace(as_string(keys_.write(number_)), as_string(values_.write(text_)));
    }
  }

 private:
  typename System<payload::Number>::Value number_{};
  typename System<payload::Text>::Value text_{};

  void clear() {
    table_ = {};
    table_.reserve(count_);
    next_ = 0;
  }

  void renumber(std::int32_t key) {
    if constexpr (PlainNumber<decltype(number_)>) {
      number_.value = key;
    } else {
      number_.set_value(key);
    }
  }

  static std::string as_string(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  System<payload::Number> keys_;
  System<payload::Text> values_;
  std::size_t count_;
  std::size_t next_ = 0;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, std::string> table_;
};

template <template <class> class System, class T>
concept Carries = requires { typename System<T>::Value; };

template <template <class> class System>
void add_hash_insert(Entries& entries, const std::string& name) {
  if constexpr (Carries<System, payload::Number>) {
    using Number = typename System<payload::Number>::Value;
    if constexpr (PlainNumber<Number> || NumberOfFunctions<Number>) {
      entries.push_back(
          {"hash_insert", name, [] { return std::make_unique<HashInsert<System>>(1'000'000); }});
    }
  }
}

/// Adds the library under this name to every work that it supports.
template <template <class> class System>
void add_works(Entries& entries, const std::string& name) {
  each_work([&](std::string work, auto make) {
    using T = decltype(make());
    if constexpr (Carries<System, T>) {
      entries.push_back(
          {std::move(work), name, [make] { return std::make_unique<Timed<System, T>>(make()); }});
    }
  });
  add_hash_insert<System>(entries, name);
}

}  // namespace bench_codecs
