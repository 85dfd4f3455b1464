// What the clients call with; programs/values.py holds the same values.
#pragma once

#include <cstdint>

#include "interop.hpp"

namespace interop_test {

interop::Point point(int number);
interop::Hit hit(std::uint32_t number);
interop::Tree tree(std::int32_t number);
interop::Moment moment(int number);
interop::Everything everything(int number);
mf::Bytes bytes(std::string_view text);

}  // namespace interop_test
