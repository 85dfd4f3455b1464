// Calls a server of orders in every way, as client.py does; it is built with each of the two schemas.
//
// orders-client-v1 CONTROLLER CALLS_A_SECOND
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "orders.client.hpp"

namespace {

using Product = decltype(orders::Price::product);
using Number = decltype(orders::Order::number);
constexpr unsigned kUnknown = 1000;

volatile std::sig_atomic_t ends = 0;

class Caller {
 public:
  Caller(mf::Client& client, double rate) : orders_(client), between_(1 / rate), due_(Clock::now()) {}

  void run() {
    static constexpr std::pair<const char*, bool (Caller::*)(unsigned)> kWays[] = {
        {"price", &Caller::price}, {"not_there", &Caller::not_there}, {"place", &Caller::place},
        {"audit", &Caller::audit}, {"sign", &Caller::sign},           {"history", &Caller::history},
        {"batch", &Caller::batch},
    };
    while (ends == 0) {
      for (const auto& [name, way] : kWays) {
        pace();
        ++calls_;
        try {
          if (!(this->*way)(calls_ % 100)) fail(name, "another answer");
        } catch (const std::exception& error) {
          fail(name, error.what());
        }
      }
      std::cout << calls_ << ' ' << failed_ << ' ' << first_ << std::endl;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Until the next call is due. What a busy machine was late for is not made up for by more than a second.
  void pace() {
    std::this_thread::sleep_until(due_);
    due_ = std::max(due_ + std::chrono::duration_cast<Clock::duration>(between_),
                    Clock::now() - std::chrono::seconds(1));
  }
  void fail(const char* way, const std::string& why) {
    if (failed_++ == 0) first_ = std::string(way) + ": " + why;
  }

  static orders::Order order(unsigned number) {
    orders::Order made;
    made.number = number;
    made.customer = "anna";
    made.products = {static_cast<Product>(number), static_cast<Product>(2 * number)};
    return made;
  }

  bool price(unsigned n) {
    const auto price = orders_.price(static_cast<Product>(n));
    return price.product == n && price.cents == 100 * n;
  }
  bool not_there(unsigned n) {
    try {
      (void)orders_.price(static_cast<Product>(kUnknown + n));
    } catch (const orders::NotThere& error) {
      return error.product == kUnknown + n;
    }
    return false;
  }
  bool place(unsigned n) {
    auto paid = order(n);
    paid.state = orders::State::paid;
    return orders_.place(order(n)) == paid;
  }
  bool audit(unsigned n) {
    orders::Audit some;
    some.who = "me";
    for (unsigned each = 0; each < n % 7; ++each) some.orders.push_back(order(each));
    const auto answer = orders_.audit(some);
    return answer.who == "me" && answer.orders == some.orders &&
           answer.note == std::to_string(some.orders.size()) + " orders";
  }
  bool sign(unsigned n) {
    const seal::Seal seal{"anna"};
#ifdef ORDERS_V2
    const auto sealed = orders_.sign(seal, n);
#else
    const auto sealed = orders_.sign(n, seal);
#endif
    return sealed.text == "anna of " + std::to_string(n);
  }
  bool history(unsigned n) {
    std::vector<Number> numbers;
    for (const auto& each : orders_.history(n, n + 5)) numbers.push_back(each.number);
    return numbers == std::vector<Number>{n, n + 1, n + 2, n + 3, n + 4};
  }
  bool batch(unsigned n) {
    std::vector<orders::OrdersPlaceRequest> requests;
    for (unsigned each = 0; each < n % 20; ++each) requests.push_back({order(each)});
    const auto outcomes = orders_.place_batch(requests).results();
    unsigned at = 0;
    for (const auto& each : outcomes)
      if (each.value().number != at++) return false;
    return outcomes.size() == requests.size();
  }

  const orders::OrdersClient orders_;
  const std::chrono::duration<double> between_;
  Clock::time_point due_;
  unsigned calls_ = 0;
  unsigned failed_ = 0;
  std::string first_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::signal(SIGTERM, [](int /*signal*/) { ends = 1; });
  mf::Client client(argv[1]);
  Caller(client, std::stod(argv[2])).run();
}
