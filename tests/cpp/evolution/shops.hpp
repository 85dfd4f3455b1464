// Servants of both states of the schema, and servers that have them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "evolution/renamed.hpp"
#include "mf/client/client.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/log.hpp"
#include "mf/server/server.hpp"

namespace mftest {

class OldShop : public Under<before::ShopServant> {
 public:
  std::int32_t same(std::int32_t x) override {
    ++ran;
    return x + 1;
  }
  std::int32_t gone(std::int32_t x) override { return x; }
  std::uint32_t typed(std::uint32_t x) override { return x; }
  std::vector<before::Item> find(const std::string& name, std::uint32_t limit) override {
    ++ran;
    return {{.id = 1, .title = name, .colour = before::Colour::blue, .weight = 0.5F},
            {.id = limit, .title = "limit", .colour = before::Colour::green, .weight = 2}};
  }
  before::Item buy(std::uint32_t id, std::uint16_t count) override {
    ++ran;
    if (id == 0) throw before::SoldOut(count);
    if (id == 1) throw before::Closed("Monday");
    return {.id = id, .title = "bought", .colour = before::Colour::red, .weight = static_cast<float>(count)};
  }
  before::Note rate(const before::Note& note) override {
    auto more = note;
    ++more.stars;
    return more;
  }
  std::int32_t old_name(std::int32_t x) override { return -x; }
  std::vector<std::int32_t> widen(const std::vector<std::int64_t>& values) override {
    return {values.begin(), values.end()};
  }
  void tell(const std::string& what, std::uint32_t times) override {
    const std::scoped_lock lock(mutex);
    told.emplace_back(what, times);
  }
  void prices(std::uint32_t from, mf::StreamWriter<before::Item>& results) override {
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (!results.write({.id = from + i, .title = "p", .colour = before::Colour::red, .weight = 1})) return;
    }
  }
  std::uint32_t fill(mf::StreamReader<before::Item>& items) override {
    std::uint32_t sum = 0;
    while (const auto item = items.next()) sum += item->id;
    return sum;
  }
  void talk(mf::StreamReader<before::Item>& items, mf::StreamWriter<before::Item>& results) override {
    while (auto item = items.next()) {
      ++item->id;
      if (!results.write(*item)) return;
    }
  }
  std::uint32_t price(std::uint32_t id) override {
    ++ran;
    return 10 * id;
  }

  std::atomic<int> ran{0};
  std::mutex mutex;
  std::vector<std::pair<std::string, std::uint32_t>> told;
};

class NewShop : public Under<after::ShopServant> {
 public:
  std::int32_t fresh(std::int32_t x) override { return x; }
  std::int32_t same(std::int32_t x) override {
    ++ran;
    return x + 1;
  }
  std::uint32_t typed(const std::string& x) override { return static_cast<std::uint32_t>(x.size()); }
  std::vector<after::Item> find(const std::string& name, std::uint16_t limit,
                                const std::set<after::Colour>& colours) override {
    ++ran;
    return {
        {.title = name,
         .id = colours.size() + 1,
         .weight = 0.5F,
         .colour = after::Colour::blue,
         .tags = {"a", "b"},
         .stock = 1},
        {.title = "limit", .id = limit, .weight = 2, .colour = after::Colour::green, .tags = {}, .stock = 2}};
  }
  after::Item buy(std::uint64_t id, std::uint16_t count, bool gift) override {
    ++ran;
    if (id == 0) throw after::SoldOut(count, "next");
    if (id == 1) throw after::Broken("the till");
    const auto colour = id == 2 ? after::Colour::white : after::Colour::red;
    return {.title = gift ? "gift" : "bought",
            .id = id == 3 ? std::uint64_t{1} << 40U : id,
            .weight = static_cast<float>(count),
            .colour = colour,
            .tags = {},
            .stock = 3};
  }
  after::Note rate(const after::Note& note) override {
    auto more = note;
    more.stars += more.stars < 200 ? 1 : 100;
    more.text += " by " + more.author;
    return more;
  }
  std::int32_t new_name(std::int32_t x) override { return -x; }
  std::vector<std::int64_t> widen(const std::vector<std::int32_t>& values) override {
    std::vector<std::int64_t> doubled;
    for (const auto value : values) doubled.push_back(std::int64_t{2} * value);
    return doubled;
  }
  void tell(std::uint32_t times, const std::string& what) override {
    const std::scoped_lock lock(mutex);
    told.emplace_back(what, times);
  }
  void prices(std::uint64_t from, mf::StreamWriter<after::Item>& results) override {
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (!results.write({.title = "p",
                          .id = from + i,
                          .weight = 1,
                          .colour = after::Colour::red,
                          .tags = {"t"},
                          .stock = i}))
        return;
    }
  }
  std::uint64_t fill(mf::StreamReader<after::Item>& items) override {
    std::uint64_t sum = 0;
    while (const auto item = items.next()) sum += item->id + item->stock;
    return sum;
  }
  void talk(mf::StreamReader<after::Item>& items, mf::StreamWriter<after::Item>& results) override {
    while (auto item = items.next()) {
      ++item->id;
      if (item->title == "white") item->colour = after::Colour::white;
      if (!results.write(*item)) return;
    }
  }
  std::uint16_t price(std::uint64_t id) override {
    ++ran;
    return static_cast<std::uint16_t>(10 * id);
  }

  std::atomic<int> ran{0};
  std::mutex mutex;
  std::vector<std::pair<std::string, std::uint32_t>> told;
};

class OldBranch : public Under<before::BranchServant> {
 public:
  std::string name() override { return "old"; }
  std::string only_before() override { return "before"; }
};

class NewBranch : public Under<after::BranchServant> {
 public:
  std::string only_after() override { return "after"; }
  std::string name() override { return "new"; }
};

/// A server with a shop and a branch of one state.
template <class Shop, class Branch>
struct Selling {
  explicit Selling(mf::ServerOptions options = {})
      : server([&] {
          options.log = mf::Log(mf::Level::off);
          return std::move(options);
        }()) {
    server.offer(shop);
    server.offer(std::make_shared<Branch>(), {.agent = "main"});
    server.start();
  }
  [[nodiscard]] std::string url() const { return server.address().str(); }
  [[nodiscard]] mf::Instance instance() const {
    return {.address = server.address(), .fingerprint = shop->service().fingerprint};
  }

  std::shared_ptr<Shop> shop = std::make_shared<Shop>();
  mf::Server server;
};
using Old = Selling<OldShop, OldBranch>;
using New = Selling<NewShop, NewBranch>;

namespace before_shop = before::methods;
namespace after_shop = after::methods;

/// Calls of one state's methods, as its generated stub makes them.
class Buyer {
 public:
  explicit Buyer(const std::string& url) : client(url, {.log = mf::Log(mf::Level::off)}) {}
  explicit Buyer(std::shared_ptr<mf::Resolver> resolver)
      : client(std::move(resolver), {.log = mf::Log(mf::Level::off)}) {}

  template <class M>
  [[nodiscard]] mf::client::Target target() const {
    return {client, renamed<M>()};
  }
  template <class M, class... Args>
  auto call(const Args&... args) const {
    return mf::client::call<M>(target<M>(), {.deadline = std::chrono::seconds(20)}, args...);
  }
  template <class M, class... Args>
  mf::Failure failure(const Args&... args) const {
    try {
      (void)mf::client::call<M>(target<M>(), {.deadline = std::chrono::seconds(20)}, args...);
    } catch (...) {
      return mf::Failure::from_current_exception();
    }
    return mf::may_have_run(mf::Code::ok, "");
  }

  mf::Client client;
};

}  // namespace mftest
