#pragma once
// Where a controller keeps what it knows beyond its own life. What it reads from there is unverified: it
// counts until the lease is over, unless the server is heard of again.
//
// MemoryStore lives as long as whoever holds it: with it a restarted process begins anew, and a test can
// restart a controller. Functions are called under the controller's lock, in the order of the changes; a
// store that cannot write must not fail the call.

#include <map>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

class Store {
 public:
  using Content = std::map<Uuid, std::vector<Instance>>;

  virtual ~Store() = default;
  [[nodiscard]] virtual Content load() = 0;
  virtual void put(const Uuid& nonce, const std::vector<Instance>& instances) noexcept = 0;
  virtual void remove(const Uuid& nonce) noexcept = 0;
};

class MemoryStore final : public Store {
 public:
  [[nodiscard]] Content load() override { return content_; }
  void put(const Uuid& nonce, const std::vector<Instance>& instances) noexcept override {
    content_.insert_or_assign(nonce, instances);
  }
  void remove(const Uuid& nonce) noexcept override { content_.erase(nonce); }

 private:
  Content content_;
};

}  // namespace mf::controller
