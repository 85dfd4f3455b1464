#include "mf/codec/flex/value.hpp"

#include <bit>

#include "mf/codec/flex/tags.hpp"
#include "mf/codec/flex/writer.hpp"

namespace mf::flex {
namespace {

std::string written_key(const Value& key) {
  std::string written;
  switch (key.kind()) {
    case Kind::integer:
    case Kind::text:
    case Kind::bytes:
    case Kind::uuid:
      append_written(written, key);
      return written;
    default:
      refuse("a key is of " + std::string(name(key.kind())) + ": keys are integer, text, bytes or uuid");
  }
}

}  // namespace

std::string_view name(Kind kind) noexcept {
  constexpr std::array<std::string_view, 12> kNames{"none", "bool",  "integer",   "f64",
                                                    "text", "bytes", "timestamp", "uuid",
                                                    "list", "map",   "array",     "declared"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind Value::kind() const noexcept {
  constexpr std::array<Kind, std::variant_size_v<detail::Stored>> kKinds{
      Kind::none,      Kind::boolean, Kind::integer, Kind::integer, Kind::f64,   Kind::text,    Kind::bytes,
      Kind::timestamp, Kind::uuid,    Kind::list,    Kind::map,     Kind::array, Kind::declared};
  return kKinds[stored_.index()];
}

void Value::is_no(Kind wanted) const {
  is_no(name(wanted));
}

void Value::is_no(std::string_view wanted) const {
  refuse("the value is of " + std::string(name(kind())) + ", not of " + std::string(wanted) + ": " +
         to_string(*this));
}

std::int64_t Value::integer(std::int64_t lowest, std::int64_t highest) const {
  const auto* const found = std::get_if<std::int64_t>(&stored_);
  if (found == nullptr && kind() != Kind::integer) is_no(Kind::integer);
  if (found == nullptr || *found < lowest || *found > highest)
    refuse("the integer is not from " + std::to_string(lowest) + " to " + std::to_string(highest) + ": " +
           to_string(*this));
  return *found;
}

std::uint64_t Value::integer(std::uint64_t highest) const {
  if (kind() != Kind::integer) is_no(Kind::integer);
  const auto* const found = std::get_if<std::int64_t>(&stored_);
  const auto value = found != nullptr ? static_cast<std::uint64_t>(*found) : std::get<std::uint64_t>(stored_);
  if ((found != nullptr && *found < 0) || value > highest)
    refuse("the integer is not from 0 to " + std::to_string(highest) + ": " + to_string(*this));
  return value;
}

double Value::number() const {
  if (const auto* const found = std::get_if<double>(&stored_)) return *found;
  if (const auto* const found = std::get_if<std::int64_t>(&stored_)) return static_cast<double>(*found);
  if (const auto* const found = std::get_if<std::uint64_t>(&stored_)) return static_cast<double>(*found);
  is_no(Kind::f64);
}

bool operator==(const Value& left, const Value& right) {
  const auto* const number = std::get_if<double>(&left.stored_);
  if (number == nullptr) return left.stored_ == right.stored_;
  const auto* const other = std::get_if<double>(&right.stored_);
  return other != nullptr && std::bit_cast<std::uint64_t>(*number) == std::bit_cast<std::uint64_t>(*other);
}

Map::Map() : content_(std::make_unique<Content>()) {}
Map::~Map() = default;
Map::Map(Map&& other) noexcept = default;
Map& Map::operator=(Map&& other) noexcept = default;
Map::Map(const Map& other)
    : content_(other.content_ ? std::make_unique<Content>(*other.content_) : nullptr) {}
Map& Map::operator=(const Map& other) {
  return *this = Map(other);
}

Map::Map(std::initializer_list<std::pair<Value, Value>> entries) : Map() {
  for (const auto& [key, value] : entries) set(key, value);
}

std::size_t Map::size() const noexcept {
  return content_ ? content_->entries.size() : 0;
}

const Value* Map::find(const Value& key) const {
  if (!content_) return nullptr;
  const auto found = content_->entries.find(written_key(key));
  return found == content_->entries.end() ? nullptr : &found->second.value;
}

const Value& Map::operator[](const Value& key) const {
  const auto* const found = find(key);
  if (found == nullptr) refuse("the map has no key " + to_string(key));
  return *found;
}

void Map::set(Value key, Value value) {
  auto written = written_key(key);
  if (!content_) content_ = std::make_unique<Content>();
  content_->entries.insert_or_assign(std::move(written),
                                     Entry{.key = std::move(key), .value = std::move(value)});
}

void Map::append(std::string written, Value&& key, Value&& value) {
  auto& entries = content_->entries;
  entries.emplace_hint(entries.end(), std::move(written),
                       Entry{.key = std::move(key), .value = std::move(value)});
}

Map::Iterator Map::begin() const noexcept {
  return content_ ? Iterator(content_->entries.begin()) : Iterator();
}

Map::Iterator Map::end() const noexcept {
  return content_ ? Iterator(content_->entries.end()) : Iterator();
}

bool operator==(const Map& left, const Map& right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [](const auto& one, const auto& other) {
           return one.key == other.key && one.value == other.value;
         });
}

}  // namespace mf::flex
