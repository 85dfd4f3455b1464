// What a replica holds: the latest messages in the order of their versions, and which messages of which
// clients it has had. Pure data.
//
// The mark of a log's end is a hash over all origins and versions that it has ever held, so that two logs are
// compared by their ends alone. Origins are forgotten when their client says that it awaits them no more, and
// beyond so many clients by which was last heard of the longest ago: in the order of the log, so that all
// replicas forget alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "replicated/messages.hpp"

namespace mf::replicated {

/// The mark behind an entry (docs/protocol.md, section 5d).
[[nodiscard]] std::uint64_t next_mark(std::uint64_t mark, const Entry& entry) noexcept;

/// What a message costs in memory, about.
[[nodiscard]] std::size_t size_of(const Body& body) noexcept;

/// One message of a client: the version that it was first applied under, and what came of it.
struct Seen {
  Version version;
  std::optional<Outcome> outcome{};
};

/// Which messages were had.
class Origins {
 public:
  explicit Origins(std::size_t most = replication::MOST_CLIENTS) : most_(most) {}
  Origins(Origins&&) noexcept = default;
  Origins& operator=(Origins&&) noexcept = default;

  [[nodiscard]] std::shared_ptr<Seen> find(const Origin& origin) const;
  /// Whether the client has said that it awaits this no more.
  [[nodiscard]] bool is_over(const Origin& origin) const;
  /// Of an origin that was not found.
  std::shared_ptr<Seen> add(const Origin& origin, const Version& version);
  /// As of now; outcomes that come later are seen in the copy, too.
  [[nodiscard]] Origins copy() const;
  /// For another replica: of messages that all have their outcomes.
  [[nodiscard]] std::vector<ClientState> states() const;
  void restore(const std::vector<ClientState>& states);

 private:
  struct Client {
    Uuid id;
    std::uint64_t oldest = 0;
    std::map<std::uint64_t, std::shared_ptr<Seen>> seen{};
  };
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Uuid& id) const noexcept {
      std::size_t part = 0;  // whoever is hostile is a member of the group, or is trusted by it
      std::memcpy(&part, id.bytes.data(), sizeof part);
      return part;
    }
  };
  Client& last(const Uuid& id);

  std::size_t most_;
  std::list<Client> clients_;  // the one heard of the longest ago first
  std::unordered_map<Uuid, std::list<Client>::iterator, Hash> by_id_;
};

/// At most `most` entries of at most `most_bytes` in all: the oldest go first.
class Log {
 public:
  Log(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  /// An empty log that begins behind this.
  void reset(const Head& at);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Where it begins, and where it ends.
  [[nodiscard]] const Head& base() const noexcept { return base_; }
  [[nodiscard]] const Head& head() const noexcept { return head_; }
  [[nodiscard]] std::uint64_t counter() const noexcept { return head_.version.counter; }

  /// The entry whose counter is next.
  void append(Entry entry);
  /// Null: not yet, or no longer.
  [[nodiscard]] const Entry* at(std::uint64_t counter) const noexcept;
  /// How the log ended at a counter. Null: not yet, or no longer known.
  [[nodiscard]] const Head* head_at(std::uint64_t counter) const noexcept;
  /// Entries behind a counter that is still known, as many as fit, and at least one if there is any.
  [[nodiscard]] std::vector<Entry> after(std::uint64_t counter, std::size_t most,
                                         std::size_t most_bytes) const;

 private:
  struct Kept {
    Entry entry;
    Head head;  // behind it
  };

  std::size_t most_;
  std::size_t most_bytes_;
  Head base_{};
  Head head_{};
  std::deque<Kept> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace mf::replicated
