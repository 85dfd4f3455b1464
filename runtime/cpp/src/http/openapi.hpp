// An OpenAPI 3.1 document of described services and topics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/description.hpp"

namespace mf::http {

/// `may_call` leaves out what the reader may not call. The method of a topic is "".
[[nodiscard]] std::string openapi_of(
    const std::vector<std::shared_ptr<const Description>>& described,
    const std::function<bool(std::string_view service, std::string_view method)>& may_call);

}  // namespace mf::http
