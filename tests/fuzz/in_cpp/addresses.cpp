// Addresses as users and peers write them, commas between them: read, written and read again.

#include "in_cpp/input.hpp"
#include "mf/core/error.hpp"
#include "mf/transport/address.hpp"
#include "targets.hpp"

namespace fuzz {

bool addresses(std::span<const std::byte> input) {
  try {
    for (const mf::Address& each : mf::Address::parse_list(text_of(rest_of(input)))) {
      require(mf::Address::parse(each.str()) == each);
      (void)each.server();
    }
  } catch (const mf::Error& refused) {
    require(refused.code() == mf::Code::invalid_argument && refused.message().starts_with("address '"));
    return false;
  }
  return true;
}

}  // namespace fuzz
