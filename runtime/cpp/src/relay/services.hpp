// The services that a relay watches at its resolver: each as long as a client has it bound, and if it exists
// a while longer, so that it need not be requested again.
//
// Clients choose the names, so there is a limit; it counts only services in use. Unused ones make room for
// new ones, the longest unused first. A name that the resolver does not know is forgotten with its last user.
//
// Thread-safe. The resolver is called under the lock, and calls nothing back.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "mf/core/clock.hpp"
#include "mf/link/resolver.hpp"

namespace mf::relay {

class Services : public std::enable_shared_from_this<Services> {
 public:
  // Each is a stream at the controller, which allows 512 on a client's connection.
  static constexpr std::size_t kMost = 400;
  static constexpr std::size_t kLongestName = 255;
  static constexpr std::chrono::minutes kKeptFor{5};

  /// Without a resolver nothing is watched or forgotten.
  explicit Services(std::shared_ptr<Resolver> resolver) : resolver_(std::move(resolver)) {}

  /// Keeps the service watched until this object is destroyed.
  class Use {
   public:
    Use(std::shared_ptr<Services> of, std::string service)
        : of_(std::move(of)), service_(std::move(service)) {}
    ~Use() { of_->release(service_); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const std::shared_ptr<Services> of_;
    const std::string service_;
  };
  /// Null if others use all that are allowed, or the name is too long.
  [[nodiscard]] std::shared_ptr<Use> use(std::string_view service);

  /// Forgets services that were unused for kKeptFor; returns when to look again.
  TimePoint tidy(TimePoint now);
  /// The number of watched services.
  [[nodiscard]] std::size_t known() const;

 private:
  struct Entry {
    std::size_t users = 0;
    TimePoint idle_since{};
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void release(const std::string& service) noexcept;
  Entries::iterator forget(Entries::iterator entry) noexcept;

  const std::shared_ptr<Resolver> resolver_;
  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace mf::relay
