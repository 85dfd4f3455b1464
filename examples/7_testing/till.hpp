// The program under test: a till adds up what things cost. It asks for each price, and when no server gives
// one within two seconds it takes the last one that it has heard.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shop.client.hpp"
#include "shop.server.hpp"

class Till : public shop::TillServant {
 public:
  explicit Till(mf::Client& client) : prices_(client) {}

  std::uint32_t total(const std::vector<std::string>& items) override {
    std::uint32_t sum = 0;
    for (const auto& item : items) sum += price(item);
    return sum;
  }

 private:
  std::uint32_t price(const std::string& item) {
    try {
      const auto price = prices_.price(item, {.deadline = std::chrono::seconds(2)});
      const std::scoped_lock lock(mutex_);
      return last_[item] = price;
    } catch (const mf::Error&) {
      const std::scoped_lock lock(mutex_);
      const auto known = last_.find(item);
      if (known == last_.end()) throw;
      return known->second;
    }
  }

  const shop::PricesClient prices_;
  std::mutex mutex_;
  std::map<std::string, std::uint32_t> last_;
};
