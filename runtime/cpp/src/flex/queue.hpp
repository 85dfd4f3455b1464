// Messages that wait, found by what is asked for: pure data, without locks, threads or time.
//
// Each shape of patterns that is asked for gets an index when it first is: key -> the numbers of its messages
// in the order of arrival; where functions decide, by the values that these are asked about within that. So a
// look-up costs what matches, not what waits. What is taken stays in the indexes until somebody passes by, or
// until there is more of that than of messages. At most 32 indexes are kept; the oldest goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flex/asked.hpp"
#include "mf/core/error.hpp"
#include "mf/core/types.hpp"

namespace mf::flex {

struct Parcel;

/// Whom to tell what becomes of a parcel. Called without the mailbox's lock.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual void taken(const Parcel& parcel) = 0;
  /// The mailbox was closed.
  virtual void failed(const Parcel& parcel, const Error& error) = 0;
};

/// A message on its way: with what it takes, and who sent it.
struct Parcel {
  Message message;
  std::size_t size = 0;
  Uuid sender{};
  std::shared_ptr<Owner> owner{};
  std::uint64_t sequence = 0;
};
using ParcelRef = std::shared_ptr<const Parcel>;

class Queue {
 public:
  struct Candidate {
    std::uint64_t number = 0;
    std::string tested;
  };

  [[nodiscard]] std::size_t size() const noexcept { return parcels_.size(); }
  std::uint64_t put(ParcelRef parcel);
  /// The number of the first message that matches a pattern without functions; kNone.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  [[nodiscard]] std::uint64_t first(const Asked& asked);
  /// For a pattern with functions: the first message for each set of values that they are asked about, in the
  /// order of arrival.
  [[nodiscard]] std::vector<Candidate> candidates(const Asked& asked);
  /// Null: it is gone.
  [[nodiscard]] ParcelRef find(std::uint64_t number) const;
  ParcelRef take(std::uint64_t number);
  /// In the order of arrival.
  [[nodiscard]] std::vector<ParcelRef> take_all();
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;

 private:
  /// Those of one key. What was taken is in front of `first`, or still in it.
  struct Numbers {
    std::vector<std::uint64_t> all;
    std::size_t first = 0;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  template <class T>
  using ByKey = std::unordered_map<std::string, T, Hash, std::equal_to<>>;
  struct Index {
    std::string shape;
    bool tested = false;
    std::size_t stale = 0;  // numbers in it that were taken, at most
    ByKey<Numbers> numbers{};
    ByKey<ByKey<Numbers>> groups{};  // where functions decide
  };

  [[nodiscard]] Index& index(const Asked& asked);
  void add(Index& index, std::uint64_t number, const Message& message);
  [[nodiscard]] std::uint64_t front(Numbers& numbers) const;
  template <class T>
  static T& place(ByKey<T>& map, const std::string& key);

  std::unordered_map<std::uint64_t, ParcelRef> parcels_;
  std::deque<Index> indexes_;
  std::uint64_t next_ = 0;
  std::string key_;     // while an index is looked at
  std::string tested_;  // as well
};

}  // namespace mf::flex
