// The waiting messages, with indexes for patterns: pure data, without locks, threads or time.
//
// Each shape of patterns gets an index at its first use: key -> the numbers of its messages in the order of
// arrival; for patterns with functions they are grouped by the values that the functions get. So a look-up
// costs what matches, not what waits. Taken messages stay in an index until a look-up passes them, or until
// they outnumber the waiting messages. At most 32 indexes are kept; the oldest is dropped first.
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

/// Learns what becomes of a parcel. Called without the mailbox's lock.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual void taken(const Parcel& parcel) = 0;
  /// The mailbox was closed.
  virtual void failed(const Parcel& parcel, const Error& error) = 0;
};

/// A message with its size and sender.
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
  /// The number of the first message that matches a pattern without functions, or kNone.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  [[nodiscard]] std::uint64_t first(const Asked& asked);
  /// For a pattern with functions: the first message for each distinct set of their arguments, in the order
  /// of arrival.
  [[nodiscard]] std::vector<Candidate> candidates(const Asked& asked);
  /// Null if it was taken.
  [[nodiscard]] ParcelRef find(std::uint64_t number) const;
  ParcelRef take(std::uint64_t number);
  /// In the order of arrival.
  [[nodiscard]] std::vector<ParcelRef> take_all();
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;

 private:
  /// The messages of one key. Those in front of `first` were taken, others may have been.
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
    ByKey<ByKey<Numbers>> groups{};  // for patterns with functions
  };

  [[nodiscard]] Index& index(const Asked& asked);
  void add(Index& index, std::uint64_t number, const Message& message);
  [[nodiscard]] std::uint64_t front(Numbers& numbers) const;
  template <class T>
  static T& place(ByKey<T>& map, const std::string& key);

  std::unordered_map<std::uint64_t, ParcelRef> parcels_;
  std::deque<Index> indexes_;
  std::uint64_t next_ = 0;
  std::string key_;  // buffers that are reused
  std::string tested_;
};

}  // namespace mf::flex
