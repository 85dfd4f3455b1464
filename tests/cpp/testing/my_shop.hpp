// A shop of one item, for the test of docs/testing.md.
#pragma once

#include <limits>
#include <memory>

#include "mf/testing/script.hpp"
#include "shop.hpp"

namespace mftest {

inline std::shared_ptr<mf::Servant> my_shop() {
  const shop::Item sea{.id = std::numeric_limits<std::uint64_t>::max(),
                       .title = "The sea",
                       .price = 0.1F,
                       .size = {.width = 10.0, .height = 1e-7, .kind = shop::Kind_::book},
                       .marks = shop::Marks::sale,
                       .tongue = shop::Tongue::en,
                       .note = "‘rare’"};
  auto script = std::make_shared<mf::testing::Script<shop::methods::ShopMethod>>();
  script->on<shop::methods::ShopFind>([sea](const auto&) { return std::vector{sea}; });
  script->on<shop::methods::ShopItem>([sea](const auto& request) {
    if (request.title != sea.title) throw shop::NotFound(request.title, {});
    return sea;
  });
  return script;
}

}  // namespace mftest
