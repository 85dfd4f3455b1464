#include <iostream>
#include "plain.hpp"
int main() {
  plain::Item item{.name = "bolt", .count = 3};
  std::cout << item.name << ' ' << item.count << '\n';
}
