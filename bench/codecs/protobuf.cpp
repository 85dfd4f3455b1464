// protobuf 3.21 on the messages that `mfidlc proto` prints for the tier archive.
#include <google/protobuf/message.h>

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "archived.pb.h"
#include "convert.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace bench_codecs {
namespace {

namespace pb = payload::pb;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Values are set and compared by reflection, which finds fields by name: generated accessors cannot be
// enumerated.
struct Field {
  Field(Message& message, const char* name)
      : message(message),
        reflection(*message.GetReflection()),
        descriptor(message.GetDescriptor()->FindFieldByName(name)) {}
  Message& message;
  const google::protobuf::Reflection& reflection;
  const FieldDescriptor* descriptor;
};

template <class T>
void set(Message& message, const T& value);

/// Sets the field, or adds to it if it is repeated.
template <class T>
void put(const Field& to, const T& value) {
  const bool many = to.descriptor->is_repeated();
  const auto& [message, reflection, field] = to;
  const auto scalar = [&](auto set_one, auto add_one, auto given) {
    (reflection.*(many ? add_one : set_one))(&message, field, given);
  };
  using R = google::protobuf::Reflection;
  if constexpr (std::same_as<T, bool>) {
    scalar(&R::SetBool, &R::AddBool, value);
  } else if constexpr (std::is_enum_v<T>) {
    scalar(&R::SetEnumValue, &R::AddEnumValue, static_cast<int>(value));
  } else if constexpr (std::same_as<T, float>) {
    scalar(&R::SetFloat, &R::AddFloat, value);
  } else if constexpr (std::same_as<T, double>) {
    scalar(&R::SetDouble, &R::AddDouble, value);
  } else if constexpr (std::same_as<T, std::int64_t>) {
    scalar(&R::SetInt64, &R::AddInt64, value);
  } else if constexpr (std::same_as<T, std::uint32_t>) {
    scalar(&R::SetUInt32, &R::AddUInt32, value);
  } else if constexpr (std::is_integral_v<T>) {
    scalar(&R::SetInt32, &R::AddInt32, static_cast<std::int32_t>(value));
  } else if constexpr (std::same_as<T, std::string>) {
    if (many) {
      reflection.AddString(&message, field, value);
    } else {
      reflection.SetString(&message, field, value);
    }
  } else if constexpr (kMap<T>) {
    for (const auto& [key, mapped] : value) {
      Message& entry = *reflection.AddMessage(&message, field);
      put(Field(entry, "key"), key);
      put(Field(entry, "value"), mapped);
    }
  } else if constexpr (Optional<T>) {
    if (value.has_value()) put(to, *value);
  } else if constexpr (payload::Described<T>) {
    set(many ? *reflection.AddMessage(&message, field) : *reflection.MutableMessage(&message, field), value);
  } else {
    for (const auto& element : value) put(to, element);
  }
}

template <class T>
void set(Message& message, const T& value) {
  each_field(value, [&](const char* name, const auto& field) { put(Field(message, name), field); });
}

template <class T>
struct MessageOf;

#define MESSAGE(Type)               \
  template <>                       \
  struct MessageOf<payload::Type> { \
    using Is = pb::Type;            \
  };
PAYLOAD_WHOLE_TYPES(MESSAGE)
#undef MESSAGE

template <class T>
struct Protobuf {
  using Value = typename MessageOf<T>::Is;
  static void make(const T& value, Value& made) { set(made, value); }
  static bool same(const Value& back, const T& value);

  std::span<const std::byte> write(const Value& value) {
    while (!value.SerializeToArray(memory.at_least(capacity), static_cast<int>(capacity))) {
      capacity = value.ByteSizeLong();
    }
    return {memory.at_least(capacity), static_cast<std::size_t>(value.GetCachedSize())};
  }
  static std::string to_fresh(const Value& value) { return value.SerializeAsString(); }
  static bool read(std::span<const std::byte> bytes, Value& value) {
    return value.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }

  Memory memory;
  std::size_t capacity = 512;
};

/// Equal messages have equal bytes if their maps are serialized in order.
template <class T>
bool Protobuf<T>::same(const Value& back, const T& value) {
  Value wanted;
  make(value, wanted);
  const auto sorted = [](const Value& message) {
    std::string text;
    google::protobuf::io::StringOutputStream stream(&text);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
    coded.Trim();
    return text;
  };
  return sorted(back) == sorted(wanted);
}

}  // namespace

void register_protobuf(Entries& entries) {
  add_works<Protobuf>(entries, "protobuf");
}

}  // namespace bench_codecs
