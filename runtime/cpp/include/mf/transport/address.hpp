// Addresses of servers and controllers, as users write them: `scheme://host:port`, IPv6 hosts in brackets.
//
//   mf://host:port    a controller: services are looked up there
//   tcp://host:port   one server, without a controller
//
// Pure text: nothing is resolved here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mf {

struct Address {
  std::string scheme;
  std::string host;
  std::uint16_t port = 0;

  /// Throws Error(invalid_argument) that says what is wrong and shows the expected form.
  static Address parse(std::string_view text);

  [[nodiscard]] std::string str() const;

  friend bool operator==(const Address&, const Address&) = default;
  friend auto operator<=>(const Address&, const Address&) = default;
};

}  // namespace mf
