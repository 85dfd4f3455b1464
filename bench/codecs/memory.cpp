// The limit: one memcpy into warm memory, of the elements of lists of numbers and structs, and of as many
// bytes as febird writes for everything else. It creates no object, so no library that does can reach it:
// `copy` is the limit for those, a copy of the object in memory, with its allocations and without a look at
// any byte.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "mf/codec/tiered.hpp"
#include "payload.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace bench_codecs {
namespace {

template <class T>
concept OneImage =
    requires(const T& value) { requires mf::codec::MemoryImage<std::decay_t<decltype(value.values[0])>>; };

template <class T>
struct Raw {
  struct Value {
    std::vector<std::byte> bytes;
  };

  static void make(const T& value, Value& made) {
    if constexpr (OneImage<T>) {
      const auto* from = reinterpret_cast<const std::byte*>(value.values.data());
      made.bytes.assign(from, from + sizeof(value.values[0]) * value.values.size());
    } else {
      made.bytes.resize(mf::codec::encoded_size<mf::Tier::febird>(value));
      mf::codec::Writer writer(made.bytes.data());
      mf::codec::encode<mf::Tier::febird>(writer, value);
    }
  }

  std::span<const std::byte> write(const Value& value) {
    auto* to = memory.at_least(value.bytes.size() + 1);
    std::memcpy(to, value.bytes.data(), value.bytes.size());
    return {to, value.bytes.size()};
  }

  Memory memory;
};

/// All steps do the same copy.
template <class T>
class Copy final : public Codec {
 public:
  explicit Copy(const T& value) { Raw<T>::make(value, value_); }

  [[nodiscard]] std::size_t bytes() const override { return value_.bytes.size(); }
  [[nodiscard]] const char* mistake() override { return nullptr; }
  [[nodiscard]] bool does(Step /*step*/) const override { return true; }
  void run(Step /*step*/, std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      keep(value_);
      keep(*raw_.write(value_).data());
    }
  }

 private:
  typename Raw<T>::Value value_;
  Raw<T> raw_;
};

/// Creates a fresh object as a copy of an existing one.
template <class T>
class CopiedObject final : public Codec {
 public:
  explicit CopiedObject(T value) : value_(std::move(value)) {}

  [[nodiscard]] std::size_t bytes() const override {
    return mf::codec::encoded_size<mf::Tier::febird>(value_);
  }
  [[nodiscard]] const char* mistake() override { return T(value_) == value_ ? nullptr : "another object"; }
  [[nodiscard]] bool does(Step step) const override { return step == Step::deserialize; }
  void run(Step /*step*/, std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      keep(value_);
      const T copy = value_;
      keep(copy);
    }
  }

 private:
  T value_;
};

/// A number and a text for the hash table, stored as they are in memory.
template <class T>
struct InPlace {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static std::span<const std::byte> write(const T& value) {
    if constexpr (std::same_as<T, payload::Text>) {
      return std::as_bytes(std::span(value.value));
    } else {
      return std::as_bytes(std::span(&value.value, 1));
    }
  }
};

}  // namespace

void register_memory(Entries& entries) {
  each_work([&](const std::string& work, auto make) {
    using T = decltype(make());
    entries.push_back({work, "raw", [make] { return std::make_unique<Copy<T>>(make()); }});
    entries.push_back({work, "copy", [make] { return std::make_unique<CopiedObject<T>>(make()); }});
  });
  add_hash_insert<InPlace>(entries, "raw");
}

}  // namespace bench_codecs
