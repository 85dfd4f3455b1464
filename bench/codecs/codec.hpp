// The interface that each measured library implements for the bench, and how its steps are timed.
//
// A library is a class template System<T>, for each type T of payload.hpp that it can carry:
//   using Value = …                       what its users hold; default constructible
//   static void make(const T&, Value&)           from the plain value, into a new Value; not measured
//   static bool same(const Value&, const T&)     what came back is what was given; not measured
//   std::span<const std::byte> write(const Value&)      into memory that the System keeps and reuses
//   static bool read(std::span<const std::byte>, Value&)  overwrites the value and may use its memory again
// and, if its users get fresh memory or a fresh object in another way than by these two:
//   static auto to_fresh(const Value&)                  the bytes
//   static auto from_fresh(std::span<const std::byte>)  something that is false for a failure
// and register_NAME(), which adds it to the entries by add_works() (works.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench_codecs {

/// What is measured: serializing into reused and into fresh memory, deserializing into a fresh and into a
/// reused object.
enum class Step { serialize, serialize_fresh, deserialize, deserialize_into };

class Codec {
 public:
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;

  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Null, or what came back wrong.
  [[nodiscard]] virtual const char* mistake() = 0;
  [[nodiscard]] virtual bool does(Step step) const = 0;
  virtual void run(Step step, std::size_t times) = 0;
};

/// One library with one work; created when the work begins.
struct Entry {
  std::string work;
  std::string system;
  std::function<std::unique_ptr<Codec>()> make;
};
using Entries = std::vector<Entry>;

/// Makes the compiler assume that the value is read and that memory has changed.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

template <template <class> class System, class T>
class Timed final : public Codec {
 public:
  using Value = typename System<T>::Value;

  /// The value that is written is one that was read, so for every library the nodes of a map lie in memory in
  /// the order of its keys. In a copy of a std::map they lie in the order of its tree, and iterating takes
  /// three times as long.
  explicit Timed(const T& value) : plain_(value) {
    Value made{};
    System<T>::make(value, made);
    const auto written = system_.write(made);
    bytes_.assign(written.begin(), written.end());
    sane_ = System<T>::read(bytes_, value_);
  }

  [[nodiscard]] std::size_t bytes() const override { return bytes_.size(); }
  [[nodiscard]] bool does(Step /*step*/) const override { return true; }

  [[nodiscard]] const char* mistake() override {
    for (int i = 0; i < 2; ++i) {  // the second time into the same object
      if (!sane_ || !System<T>::read(bytes_, existing_)) return "it refused its own bytes";
      if (!System<T>::same(existing_, plain_)) return "another value came back";
    }
    return nullptr;
  }

  void run(Step step, std::size_t times) override {
    switch (step) {
      case Step::serialize:
        for (std::size_t i = 0; i < times; ++i) keep(*system_.write(look_at(value_)).data());
        break;
      case Step::serialize_fresh:
        for (std::size_t i = 0; i < times; ++i) write_fresh();
        break;
      case Step::deserialize:
        for (std::size_t i = 0; i < times; ++i) read_fresh();
        break;
      case Step::deserialize_into:
        for (std::size_t i = 0; i < times; ++i) {
          sane_ &= System<T>::read(bytes_, existing_);
          keep(existing_);
        }
        break;
    }
    keep(sane_);
  }

 private:
  void write_fresh() {
    if constexpr (requires { System<T>::to_fresh(value_); }) {
      keep(System<T>::to_fresh(look_at(value_)));
    } else {
      System<T> fresh;
      keep(*fresh.write(look_at(value_)).data());
    }
  }

  void read_fresh() {
    if constexpr (requires { System<T>::from_fresh(bytes_); }) {
      const auto fresh = System<T>::from_fresh(bytes_);
      sane_ &= static_cast<bool>(fresh);
      keep(fresh);
    } else {
      Value fresh{};
      sane_ &= System<T>::read(bytes_, fresh);
      keep(fresh);
    }
  }

  static const Value& look_at(const Value& value) {
    keep(value);
    return value;
  }

  T plain_;
  Value value_{};
  Value existing_{};
  System<T> system_;
  std::vector<std::byte> bytes_;
  bool sane_ = true;
};

/// Memory that grows without being filled with zeros.
class Memory {
 public:
  [[nodiscard]] std::byte* at_least(std::size_t size) {
    if (size > size_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
      size_ = size;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace bench_codecs
