// R1. Json<T> of lists, arrays, sets and maps.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/json_value.hpp"
#include "mf/codec/limits.hpp"

namespace mf::codec {

namespace detail {

template <class T, class Range>
void write_json_elements(JsonWriter& writer, const Range& values) {
  if (!writer.open_array()) {
    return;
  }
  for (const T& value : values) {
    writer.separate();
    Json<T>::write(writer, value);
  }
  writer.close_array();
}

/// A key is in quotes. The values of all other types of keys may be in quotes, too; a bool may not, so that
/// it is read here.
template <class K>
[[nodiscard]] bool read_json_key(JsonReader& reader, K& key) {
  if constexpr (std::same_as<K, bool>) {
    std::string_view text;
    if (!reader.read_name(text)) {
      return false;
    }
    key = text == "true";
    return key || text == "false" || reader.fail(Fault::json_wrong_type, "a key is neither true nor false");
  } else {
    return Json<K>::read(reader, key);
  }
}

}  // namespace detail

template <class T>
struct Json<std::vector<T>> {
  static void write(JsonWriter& writer, const std::vector<T>& value) {
    detail::write_json_elements<T>(writer, value);
  }
  [[nodiscard]] static bool read(JsonReader& reader, std::vector<T>& value) {
    value.clear();
    if (!reader.open_array()) {
      return false;
    }
    JsonStep step = JsonStep::failed;
    for (std::size_t i = 0; (step = reader.next_element(i)) == JsonStep::item; ++i) {
      if (!reader.charge(1, kSizeOfNew<T>) || !Json<T>::read(reader, value.emplace_back())) {
        return reader.inside(i);
      }
    }
    return step == JsonStep::end;
  }
};

template <class T>
struct Json<View<T>> {
  static void write(JsonWriter& writer, const View<T>& value) {
    detail::write_json_elements<T>(writer, value);
  }
  [[nodiscard]] static bool read(JsonReader& reader, View<T>& value) {
    std::vector<T> values;
    if (!Json<std::vector<T>>::read(reader, values)) {
      return false;
    }
    value = View<T>(std::move(values));
    return true;
  }
};

template <class T, std::size_t N>
struct Json<std::array<T, N>> {
  static void write(JsonWriter& writer, const std::array<T, N>& value) {
    detail::write_json_elements<T>(writer, value);
  }
  [[nodiscard]] static bool read(JsonReader& reader, std::array<T, N>& value) {
    if (!reader.open_array()) {
      return false;
    }
    JsonStep step = JsonStep::failed;
    for (std::size_t i = 0; (step = reader.next_element(i, N)) == JsonStep::item; ++i) {
      if (!Json<T>::read(reader, value[i])) {
        return reader.inside(i);
      }
    }
    return step == JsonStep::end;
  }
};

template <class K>
struct Json<std::set<K>> {
  static void write(JsonWriter& writer, const std::set<K>& value) {
    detail::write_json_elements<K>(writer, value);
  }
  [[nodiscard]] static bool read(JsonReader& reader, std::set<K>& value) {
    value.clear();
    if (!reader.open_array()) {
      return false;
    }
    JsonStep step = JsonStep::failed;
    for (std::size_t i = 0; (step = reader.next_element(i)) == JsonStep::item; ++i) {
      K key{};
      if (!reader.charge(1, sizeof(K) + kNodeOverhead) || !Json<K>::read(reader, key)) {
        return reader.inside(i);
      }
      const std::size_t before = value.size();
      value.emplace_hint(value.end(), std::move(key));
      if (value.size() == before) {
        reader.fail(Fault::json_duplicate_key, "an element of a set is there twice");
        return reader.inside(i);
      }
    }
    return step == JsonStep::end;
  }
};

template <class K, class V>
struct Json<std::map<K, V>> {
  static void write(JsonWriter& writer, const std::map<K, V>& value) {
    if (!writer.open_object()) {
      return;
    }
    for (const auto& [key, mapped] : value) {
      writer.separate();
      const std::size_t start = writer.text().size();
      Json<K>::write(writer, key);
      writer.as_key(start);
      Json<V>::write(writer, mapped);
    }
    writer.close_object();
  }
  [[nodiscard]] static bool read(JsonReader& reader, std::map<K, V>& value) {
    value.clear();
    if (!reader.open_object()) {
      return false;
    }
    JsonStep step = JsonStep::failed;
    for (std::size_t i = 0; (step = reader.next_member(i)) == JsonStep::item; ++i) {
      if (!read_entry(reader, value)) {
        return reader.inside(i);
      }
    }
    return step == JsonStep::end;
  }

 private:
  static bool read_entry(JsonReader& reader, std::map<K, V>& value) {
    K key{};
    if (!reader.charge(1, sizeof(std::pair<const K, V>) + kHeapOfNew<V> + kNodeOverhead) ||
        !detail::read_json_key(reader, key)) {
      return false;
    }
    const std::size_t before = value.size();
    const auto entry = value.try_emplace(value.end(), std::move(key));
    if (value.size() == before) {
      return reader.fail(Fault::json_duplicate_key, "a key of a map is there twice");
    }
    return reader.read_colon() && Json<V>::read(reader, entry->second);
  }
};

}  // namespace mf::codec
