// A server of orders in C++, as server.py is one in Python; it is built with each of the two schemas.
//
// orders-server-v1 CONTROLLER
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "mf/server/server.hpp"
#include "orders.server.hpp"

namespace {

// Numbers, which are wider in the newer schema.
using Product = decltype(orders::Price::product);
using Number = decltype(orders::Order::number);
constexpr Product kProducts = 100;

class Orders final : public orders::OrdersServant {
 public:
  orders::Price price(Product product) override {
    if (product >= kProducts) {
      orders::NotThere error;
      error.product = product;
      throw error;
    }
    orders::Price price;
    price.product = product;
    price.cents = 100U * product;
    return price;
  }
  orders::Order place(const orders::Order& order) override {
    auto placed = order;
    placed.state = orders::State::paid;
    return placed;
  }
  orders::Audit audit(const orders::Audit& audit) override {
    auto noted = audit;
    noted.note = std::to_string(audit.orders.size()) + " orders";
    return noted;
  }
#ifdef ORDERS_V2
  seal::Seal sign(const seal::Seal& seal, Number number) override { return sealed(seal, number); }
  bool cancel(Number number) override { return number > 0; }
#else
  seal::Seal sign(Number number, const seal::Seal& seal) override { return sealed(seal, number); }
#endif
  void history(Number begin, Number end, mf::StreamWriter<orders::Order>& results) override {
    for (auto number = begin; number < end; ++number) {
      orders::Order order;
      order.number = number;
      order.customer = "anna";
      order.products = {static_cast<Product>(number)};
      if (!results.write(order)) return;
    }
  }

 private:
  static seal::Seal sealed(const seal::Seal& seal, Number number) {
    return {seal.text + " of " + std::to_string(number)};
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mf::Server server({.controller = argv[1], .drain_timeout = std::chrono::seconds(10)});
  server.offer(std::make_shared<Orders>());
  server.start();
  std::cout << "serves" << std::endl;
  server.run();
}
