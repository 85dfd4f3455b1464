// What a bridge needs of an engine that keeps messages: append records, read on from the last stored offset,
// and store the offset of a reader. nats.cpp and kafka.cpp are engines; what they keep is theirs alone.
//
// A writer and a reader are used by one thread each. Every wait has an end. A failure is an mf::Error:
// UNAVAILABLE says that the engine is away for now and may be asked again; any other code is final.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/bridge/record.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"

namespace mf::bridge {

/// The offsets of a reader: for each partition, the last record that was read. An engine without partitions
/// has number 0.
using Offsets = std::map<std::int32_t, std::int64_t>;

/// Why an engine does not keep a record, in words.
struct Refusal {
  std::string why{};
  bool for_good = false;  // it will never take this one, whatever is done about the engine
};

class Writer {
 public:
  virtual ~Writer() = default;
  /// Appends the records in order, and waits at most `until` until the engine has them. Returns how many it
  /// has, from the first one on; if it has not all of them, `refusal` says why. What it had already, by
  /// publisher, agent and sequence, as far as it remembers, counts as appended. Never a record before one in
  /// front of it.
  /// The next call begins with the first record that was not appended, or with the one behind it if that
  /// record was refused for good.
  [[nodiscard]] virtual std::size_t append(std::span<const Record> records, TimePoint until,
                                           Refusal& refusal) = 0;
};

class Reader {
 public:
  struct Read {
    Record record{};
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::string fault{};  // why it is no record of a bridge; empty: it is one
  };

  virtual ~Reader() = default;
  /// The next records in the order of the engine, at most so many; none if there are none until then.
  [[nodiscard]] virtual std::vector<Read> read(std::size_t most, TimePoint until) = 0;
  /// Stores in the engine that everything up to there was read: the next reader of this name goes on behind
  /// it.
  virtual void keep(const Offsets& read) = 0;
};

struct EngineOptions {
  /// nats://host:port or kafka://host:port, several separated by commas.
  std::string url{};
  /// The stream of NATS, or the topic of Kafka.
  std::string stream{};
  /// Of NATS: the subject under which records are published.
  std::string subject{};
  /// Make the stream, if there is none, with what the engine takes for granted.
  bool create = false;
  /// Settings of the engine's library, by their names there.
  std::vector<std::pair<std::string, std::string>> settings{};
  Log log{};
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Both throw UNAVAILABLE while the engine is away, and INVALID_ARGUMENT, in words, if there is no such
  /// stream, or it cannot be used.
  [[nodiscard]] virtual std::unique_ptr<Writer> writer() = 0;
  /// `name`: under which the engine stores its offsets; the reader goes on behind these. A later reader of
  /// the same name takes its place.
  [[nodiscard]] virtual std::unique_ptr<Reader> reader(const std::string& name) = 0;
};

/// The URL of an engine for words that are logged: without the names and passwords that it may have.
[[nodiscard]] std::string shown_url(std::string_view url);

/// Throws INVALID_ARGUMENT for a URL of another engine, and for one that this program was built without.
[[nodiscard]] std::unique_ptr<Engine> open_engine(const EngineOptions& options);

/// Those that open_engine() calls; each is null where its library was missing when this was built.
[[nodiscard]] std::unique_ptr<Engine> open_nats(const EngineOptions& options);
[[nodiscard]] std::unique_ptr<Engine> open_kafka(const EngineOptions& options);

}  // namespace mf::bridge
