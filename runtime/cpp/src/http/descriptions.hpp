// The descriptions of services and topics that clients of the door name. A server is asked when a name is
// first used, and again when all servers of that name have another schema than the one that is known. Used on
// the door's thread, but for what is said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/callers.hpp"
#include "http/description.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/resolver.hpp"

namespace mf::http {

class Descriptions {
 public:
  using Known = std::shared_ptr<const Description>;
  using Found = UniqueFunction<void(Outcome<Known>&&)>;
  /// Runs a function later, on the door's thread; called on any thread.
  using Post = std::function<void(UniqueFunction<void()>)>;

  static constexpr std::size_t kMost = 256;
  // A description that was replaced is kept for so long: what has used it may still refer to it.
  static constexpr std::chrono::seconds kKeptFor{60};

  Descriptions(std::shared_ptr<relay::Relay> relay, std::shared_ptr<transport::Reactor> reactor,
               Callers& callers, Post post);
  ~Descriptions();
  Descriptions(const Descriptions&) = delete;
  Descriptions& operator=(const Descriptions&) = delete;

  /// Calls `found` once, perhaps before this returns. The caller's identity asks.
  void find(const std::shared_ptr<Caller>& caller, std::string_view name, bool is_topic, TimePoint until,
            Found found);
  /// Those that are known now, by name.
  [[nodiscard]] std::vector<Known> known() const;
  /// Ends what has waited too long, and frees what is not used any more.
  void tidy(TimePoint now);
  /// Ends all waits.
  void close();

 private:
  class Asking;
  struct Waiting {
    std::shared_ptr<Caller> caller;
    TimePoint until;
    Found found;
  };
  struct Entry {
    std::shared_ptr<void> watch;  // keeps the resolver looking
    Known current;
    std::optional<std::uint64_t> holds_at{};  // the version of the resolver for which `current` held
    bool is_topic = false;
    bool asking = false;
    TimePoint asked_at{};
    std::set<Fingerprint> asked_for{};  // what its servers had then
    TimePoint used_at{};
    std::vector<Waiting> waiting;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void look_all();
  void look(Entries::iterator at);
  void answer(Entries::iterator at, const Outcome<Known>& outcome);
  void asked(const std::string& key, Outcome<Known>&& outcome);
  void replace(Entry& entry, Known with);
  [[nodiscard]] bool make_room();

  const std::shared_ptr<relay::Relay> relay_;
  const std::shared_ptr<transport::Reactor> reactor_;
  Callers& callers_;
  const Post post_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::uint64_t listener_ = 0;
  Entries entries_;  // by the name by which the resolver is asked
  std::vector<std::pair<Known, TimePoint>> former_;
};

}  // namespace mf::http
