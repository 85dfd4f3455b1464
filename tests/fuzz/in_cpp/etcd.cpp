// Answers of etcd's JSON gateway, or of another server at its address.

#include <boost/json/value.hpp>

#include "controller/etcd_json.hpp"
#include "in_cpp/input.hpp"
#include "targets.hpp"

namespace fuzz {

bool etcd(std::span<const std::byte> input) {
  namespace etcd = mf::controller::etcd;
  try {
    const auto answer = etcd::parsed(text_of(rest_of(input)));
    (void)etcd::revision_of(answer);
    (void)etcd::number(answer, "ID");
    (void)etcd::flag(answer, "succeeded");
    (void)etcd::first_of(answer);
    for (const char* name : {"responses", "kvs", "events"}) {
      const auto* const all = etcd::list(answer, name);
      if (all == nullptr) continue;
      for (const auto& each : *all) {
        const auto& object = etcd::object_in(each);
        (void)etcd::key_value(object);
        if (const auto* const range = etcd::member(object, "response_range")) (void)etcd::first_of(*range);
        if (const auto* const kv = etcd::member(object, "kv")) (void)etcd::key_value(*kv);
      }
    }
  } catch (const mf::controller::EtcdError& refused) {
    require(std::string_view(refused.what()).starts_with("what has come is no answer of etcd: "));
    return false;
  }
  return true;
}

}  // namespace fuzz
