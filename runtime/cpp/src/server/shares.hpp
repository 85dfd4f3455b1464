// What the peers of a server have of something that is bounded, for example of its threads. A peer is an
// identity, or without one the host that it connects from. While an eighth is left each peer may have as much
// as it asks for; then only peers that have less than an eighth get more. So no single peer can use up
// everything, and none is limited while there is enough.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace mf::server {

class Shares {
 public:
  /// What one task of a peer has taken: it is given back when this is destroyed.
  class Taken {
   public:
    Taken(Shares& shares, std::string peer) : shares_(&shares), peer_(std::move(peer)) {}
    Taken(Taken&& from) noexcept
        : shares_(std::exchange(from.shares_, nullptr)), peer_(std::move(from.peer_)) {}
    Taken& operator=(Taken&&) = delete;
    ~Taken() {
      if (shares_ != nullptr) shares_->give_back(peer_);
    }

   private:
    Shares* shares_;
    std::string peer_;
  };

  /// `most`: what all peers together may have.
  explicit Shares(std::size_t most) noexcept : most_(most) {}

  /// One more for the peer. False: it may have no more now.
  [[nodiscard]] bool take(const std::string& peer) {
    const std::scoped_lock lock(mutex_);
    const auto found = of_.find(peer);
    const auto own = found == of_.end() ? 0 : found->second;
    if (used_ >= most_ || (used_ >= most_ - most_ / 8 && own >= most_ / 8)) return false;
    ++of_[peer];
    ++used_;
    return true;
  }
  void give_back(const std::string& peer) noexcept {
    const std::scoped_lock lock(mutex_);
    --used_;
    if (const auto found = of_.find(peer); --found->second == 0) of_.erase(found);
  }

  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  [[nodiscard]] std::size_t used() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }
  [[nodiscard]] std::size_t of(const std::string& peer) const {
    const std::scoped_lock lock(mutex_);
    const auto found = of_.find(peer);
    return found == of_.end() ? 0 : found->second;
  }

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> of_;
  std::size_t used_ = 0;
};

}  // namespace mf::server
