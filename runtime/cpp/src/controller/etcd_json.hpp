// What etcd's JSON gateway answers, as this store reads it: text in, values out. Whatever is no answer of
// etcd throws EtcdError with the words; nothing else is thrown.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mf/core/bytes.hpp"

namespace mf::controller {

class EtcdError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace etcd {

/// The object that a text is.
[[nodiscard]] boost::json::object parsed(std::string_view text);
[[noreturn]] void no_answer(std::string_view text);

/// Members of an answer; throw EtcdError for another type.
[[nodiscard]] std::int64_t number(const boost::json::object& of, std::string_view name);
[[nodiscard]] bool flag(const boost::json::object& of, std::string_view name);
/// Null if there is none.
[[nodiscard]] const boost::json::object* member(const boost::json::object& of, std::string_view name);
[[nodiscard]] const boost::json::array* list(const boost::json::object& of, std::string_view name);
[[nodiscard]] const boost::json::object& object_in(const boost::json::value& of);
[[nodiscard]] std::int64_t revision_of(const boost::json::object& answer);

struct KeyValue {
  std::string key;
  Bytes value;
  std::int64_t revision = 0;  // of its last change
};
[[nodiscard]] KeyValue key_value(const boost::json::object& from);
/// The first key of a range's answer.
[[nodiscard]] std::optional<KeyValue> first_of(const boost::json::object& range);

}  // namespace etcd
}  // namespace mf::controller
