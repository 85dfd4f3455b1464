#include "side.hpp"

#include <algorithm>
#include <utility>

namespace evolution_test {

const Method* Side::method(std::string_view name) const {
  const auto found = std::ranges::find(methods, name, &Method::name);
  return found == methods.end() ? nullptr : &*found;
}

void Answers::plan(std::string_view method, Planned planned) {
  const std::scoped_lock lock(mutex_);
  planned_.insert_or_assign(std::string(method), std::move(planned));
  answered_.insert_or_assign(std::string(method), 0);
}

std::vector<Value> Answers::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(came_, {});
}

void Answers::came(Value value) {
  const std::scoped_lock lock(mutex_);
  came_.push_back(std::move(value));
}

Value Answers::result(std::string_view method) {
  const std::scoped_lock lock(mutex_);
  const auto found = planned_.find(method);
  if (found == planned_.end() || found->second.results.empty()) return {};
  return found->second.results[answered_.find(method)->second++ % found->second.results.size()];
}

std::vector<Value> Answers::elements(std::string_view method) {
  const std::scoped_lock lock(mutex_);
  const auto found = planned_.find(method);
  return found == planned_.end() ? std::vector<Value>() : found->second.elements;
}

std::unique_ptr<Answers::Error> Answers::error(std::string_view method) {
  const std::scoped_lock lock(mutex_);
  const auto found = planned_.find(method);
  if (found == planned_.end() || found->second.errors.empty()) return nullptr;
  auto first = std::make_unique<Error>(std::move(found->second.errors.front()));
  found->second.errors.erase(found->second.errors.begin());
  return first;
}

}  // namespace evolution_test
