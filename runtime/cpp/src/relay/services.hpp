// The services that a relay asks its resolver about: each for as long as somebody has it bound, and a while
// longer if it is known, so that it need not be asked for again.
//
// Clients name what they like, so there is a bound; it counts what is in use only. What nobody uses makes
// room for what is asked for, whoever was idle longest first. A name of which the resolver knows nothing is
// forgotten with its last user.
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
  // Each is a stream at the controller, of which a client takes 512 on its connection.
  static constexpr std::size_t kMost = 400;
  static constexpr std::size_t kLongestName = 255;
  static constexpr std::chrono::minutes kKeptFor{5};

  /// Without a resolver nothing is asked, and nothing needs to be forgotten.
  explicit Services(std::shared_ptr<Resolver> resolver) : resolver_(std::move(resolver)) {}

  /// Somebody needs to know where the service is, until this is gone.
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
  /// Null: others use all that there may be, or the name is too long.
  [[nodiscard]] std::shared_ptr<Use> use(std::string_view service);

  /// Forgets what nobody has used for kKeptFor; gives when to look again.
  TimePoint tidy(TimePoint now);
  /// How many the resolver was asked about and has not been told to forget.
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
