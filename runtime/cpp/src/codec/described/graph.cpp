#include "codec/described/graph.hpp"

#include <algorithm>
#include <set>

namespace mf::described {
namespace {

/// `PoolNode` as `pool_node`: each capital that follows a small letter or a digit, or comes before a small
/// one.
std::string snake(std::string_view name) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts =
        upper(name[i]) && i != 0 && name[i - 1] != '_' &&
        (lower(name[i - 1]) || (i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z'));
    if (starts) text += '_';
    text += upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return text;
}

}  // namespace

GraphTables graph_tables(const Schema& schema, TypeIndex root) {
  std::set<TypeIndex> seen;
  std::vector<TypeIndex> pending{root};
  std::vector<TypeIndex> others;
  while (!pending.empty()) {
    const TypeIndex index = pending.back();
    pending.pop_back();
    if (!seen.insert(index).second) continue;
    const Type& type = schema.type(index);
    if (type.kind == Kind::ref && type.element != root) others.push_back(type.element);  // one ref a type
    if (type.element != kNoType) pending.push_back(type.element);
    if (type.tier == Tier::archive)
      for (const Field& field : schema.fields(type)) pending.push_back(field.type);
  }
  std::sort(others.begin(), others.end(), [&](TypeIndex left, TypeIndex right) {
    return schema.type(left).name < schema.type(right).name;
  });
  GraphTables tables;
  tables.types.push_back(root);
  tables.types.insert(tables.types.end(), others.begin(), others.end());
  std::set<std::string> taken;
  for (const TypeIndex each : tables.types) {
    std::string name = snake(schema.type(each).short_name);
    while (!taken.insert(name).second) name += '_';
    tables.places.emplace(each, tables.names.size());
    tables.names.push_back(std::move(name));
  }
  return tables;
}

GraphNumbering::GraphNumbering(const Schema& from, const Schema& to, const Link& root)
    : from_(graph_tables(from, root.from)),
      to_(graph_tables(to, root.to)),
      objects_(from_.types.size()),
      numbered_(to_.types.size()) {}

std::uint32_t GraphNumbering::meet(const Link& link, std::uint64_t index) {
  const std::size_t table = to_.place_of(link.to);
  const auto [place, added] =
      numbers_.try_emplace({link.from, link.to, index}, static_cast<std::uint32_t>(numbered_[table].size()));
  if (added) {
    numbered_[table].push_back({link, objects_[from_.place_of(link.from)][index]});
    queue_.push_back(numbered_[table].back());
  }
  return place->second;
}

bool GraphNumbering::next(Object& object) {
  if (queue_.empty()) return false;
  object = queue_.front();
  queue_.pop_front();
  return true;
}

void GraphNumbering::meet_others(const Link& link) {
  const std::size_t table = from_.place_of(link.from);
  for (std::size_t i = 0; i < objects_[table].size(); ++i) meet(link, i);
}

}  // namespace mf::described
