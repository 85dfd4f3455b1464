// Avro 1.11 by its C library (Debian 12 does not package the C++ one). It has only generic values of a
// schema. Keys of Avro's maps are strings, so maps with numbers as keys are written as lists of entries.
#include <avro.h>

#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "convert.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace bench_codecs {
namespace {

void must(int status) {
  if (status != 0) throw std::runtime_error(std::string("avro: ") + avro_strerror());
}

// --- schemas

template <class T>
std::string schema_of(std::set<std::string>& declared);

std::string record(const std::string& name, const std::string& fields) {
  return R"({"type": "record", "name": ")" + name + R"(", "fields": [)" + fields + "]}";
}

template <class T>
std::string record_of(std::set<std::string>& declared) {
  const std::string name = payload::kName<T>;
  if (!declared.insert(name).second) return '"' + name + '"';
  std::string fields;
  T value{};
  each_field(value, [&]<class Field>(const char* field, const Field& /*value*/) {
    fields += (fields.empty() ? "" : ", ") + (R"({"name": ")" + std::string(field)) + R"(", "type": )" +
              schema_of<Field>(declared) + '}';
  });
  return record(name, fields);
}

template <class Map>
std::string map_schema(std::set<std::string>& declared) {
  using Key = typename Map::key_type;
  using Mapped = typename Map::mapped_type;
  if constexpr (std::same_as<Key, std::string>) {
    return R"({"type": "map", "values": )" + schema_of<Mapped>(declared) + '}';
  } else {
    const std::string name = "Entry" + std::to_string(declared.size());
    declared.insert(name);
    return R"({"type": "array", "items": )" +
           record(name, R"({"name": "key", "type": )" + schema_of<Key>(declared) +
                            R"(}, {"name": "value", "type": )" + schema_of<Mapped>(declared) + '}') +
           '}';
  }
}

template <class T>
std::string schema_of(std::set<std::string>& declared) {
  if constexpr (std::same_as<T, bool>) {
    return R"("boolean")";
  } else if constexpr (std::is_enum_v<T>) {
    return R"("int")";
  } else if constexpr (std::same_as<T, float>) {
    return R"("float")";
  } else if constexpr (std::same_as<T, double>) {
    return R"("double")";
  } else if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t>) {
    return R"("long")";
  } else if constexpr (std::is_integral_v<T>) {
    return R"("int")";
  } else if constexpr (std::same_as<T, std::string>) {
    return R"("string")";
  } else if constexpr (kMap<T>) {
    return map_schema<T>(declared);
  } else if constexpr (Optional<T>) {
    return R"(["null", )" + schema_of<std::remove_cvref_t<decltype(*std::declval<T&>())>>(declared) + ']';
  } else if constexpr (payload::Described<T>) {
    return record_of<T>(declared);
  } else {
    return R"({"type": "array", "items": )" + schema_of<typename T::value_type>(declared) + '}';
  }
}

template <class T>
avro_value_iface_t* class_of() {
  static avro_value_iface_t* const made = [] {
    std::set<std::string> declared;
    const std::string json = schema_of<T>(declared);
    avro_schema_t schema = nullptr;
    must(avro_schema_from_json_length(json.data(), json.size(), &schema));
    return avro_generic_class_from_schema(schema);
  }();
  return made;
}

// --- values

template <class T>
void set(avro_value_t to, const T& value);

template <class Map>
void set_map(avro_value_t to, const Map& map) {
  for (const auto& [key, mapped] : map) {
    avro_value_t entry;
    if constexpr (std::same_as<typename Map::key_type, std::string>) {
      must(avro_value_add(&to, key.c_str(), &entry, nullptr, nullptr));
      set(entry, mapped);
    } else {
      avro_value_t part;
      must(avro_value_append(&to, &entry, nullptr));
      must(avro_value_get_by_index(&entry, 0, &part, nullptr));
      set(part, key);
      must(avro_value_get_by_index(&entry, 1, &part, nullptr));
      set(part, mapped);
    }
  }
}

template <class T>
void set(avro_value_t to, const T& value) {
  avro_value_t part;
  if constexpr (std::same_as<T, bool>) {
    must(avro_value_set_boolean(&to, value ? 1 : 0));
  } else if constexpr (std::same_as<T, float>) {
    must(avro_value_set_float(&to, value));
  } else if constexpr (std::same_as<T, double>) {
    must(avro_value_set_double(&to, value));
  } else if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t>) {
    must(avro_value_set_long(&to, value));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    must(avro_value_set_int(&to, static_cast<std::int32_t>(value)));
  } else if constexpr (std::same_as<T, std::string>) {
    must(avro_value_set_string_len(&to, value.c_str(), value.size() + 1));
  } else if constexpr (kMap<T>) {
    set_map(to, value);
  } else if constexpr (Optional<T>) {
    must(avro_value_set_branch(&to, value.has_value() ? 1 : 0, &part));
    if (value.has_value()) {
      set(part, *value);
    } else {
      must(avro_value_set_null(&part));
    }
  } else if constexpr (payload::Described<T>) {
    std::size_t index = 0;
    each_field(value, [&](const char* /*name*/, const auto& field) {
      must(avro_value_get_by_index(&to, index++, &part, nullptr));
      set(part, field);
    });
  } else {
    for (const auto& element : value) {
      must(avro_value_append(&to, &part, nullptr));
      set(part, element);
    }
  }
}

template <class T>
struct Avro {
  struct Value {
    Value() { must(avro_generic_value_new(class_of<T>(), &held)); }
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    ~Value() { avro_value_decref(&held); }
    avro_value_t held{};
  };

  Avro() = default;
  Avro(const Avro&) = delete;
  Avro& operator=(const Avro&) = delete;
  ~Avro() { avro_writer_free(writer); }

  static void make(const T& value, Value& made) { set(made.held, value); }
  static bool same(const Value& back, const T& value) {
    Value wanted;
    make(value, wanted);
    avro_value_t left = back.held;
    return avro_value_equal(&left, &wanted.held) != 0;
  }

  std::span<const std::byte> write(const Value& value) {
    avro_value_t from = value.held;
    for (;; size *= 2) {
      auto* to = memory.at_least(size);
      avro_writer_memory_set_dest(writer, reinterpret_cast<const char*>(to), static_cast<std::int64_t>(size));
      const int status = avro_value_write(writer, &from);
      if (status == 0) return {to, static_cast<std::size_t>(avro_writer_tell(writer))};
      if (status != ENOSPC) must(status);
    }
  }
  static bool read(std::span<const std::byte> bytes, Value& value) {
    static const avro_reader_t reader = avro_reader_memory(nullptr, 0);
    avro_reader_memory_set_source(reader, reinterpret_cast<const char*>(bytes.data()),
                                  static_cast<std::int64_t>(bytes.size()));
    return avro_value_reset(&value.held) == 0 && avro_value_read(reader, &value.held) == 0;
  }

  avro_writer_t writer = avro_writer_memory(nullptr, 0);
  std::size_t size = 512;
  Memory memory;
};

}  // namespace

void register_avro(Entries& entries) {
  add_works<Avro>(entries, "avro-c");
}

}  // namespace bench_codecs
