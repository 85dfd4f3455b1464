// What protobuf makes of its messages, in bytes of other forms that mean the same.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protobuf_filler.hpp"

namespace mf::codec {

/// Calls see(message) for it and all messages within.
template <class Message_, class See>
void visit(Message_& message, const See& see) {
  see(message);
  const pb::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->message_type() == nullptr) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if constexpr (std::is_const_v<Message_>) {
        visit(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                   : reflection.GetMessage(message, field),
              see);
      } else {
        visit(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                   : *reflection.MutableMessage(&message, field),
              see);
      }
    }
  }
}

/// We always send a field with a default.
inline void say_defaults(Message& root) {
  visit(root, [](Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const pb::Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (!field.has_default_value() || reflection.HasField(message, &field)) continue;
      switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT64:
          reflection.SetInt64(&message, &field, field.default_value_int64());
          break;
        case FieldDescriptor::CPPTYPE_FLOAT:
          reflection.SetFloat(&message, &field, field.default_value_float());
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          reflection.SetEnum(&message, &field, field.default_value_enum());
          break;
        default:
          FAIL() << field.full_name();
      }
    }
  });
}

/// Of equal keys the last entry counts; protobuf's dynamic messages still list the others.
inline void drop_older_entries(Message& root) {
  visit(root, [](Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const pb::Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (!is_map(field)) continue;
      std::set<std::string> seen;
      for (int at = reflection.FieldSize(message, &field) - 1; at >= 0; --at) {
        if (seen.insert(key_of(message, field, at)).second) continue;
        reflection.SwapElements(&message, &field, at, reflection.FieldSize(message, &field) - 1);
        reflection.RemoveLast(&message, &field);
      }
    }
  });
}

inline std::string deterministic(const Message& message) {
  std::string text;
  {
    pb::io::StringOutputStream stream(&text);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return text;
}

// --- the same message in other bytes

/// The numbers of a packed field as fields of their own.
inline void unpack(const std::string& packed, const FieldDescriptor& field, pb::UnknownFieldSet& to) {
  pb::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(packed.data()),
                                  static_cast<int>(packed.size()));
  std::uint32_t word = 0;
  std::uint64_t number = 0;
  using Wire = pb::internal::WireFormatLite;
  while (stream.BytesUntilTotalBytesLimit() != 0 &&
         stream.CurrentPosition() < static_cast<int>(packed.size())) {
    switch (Wire::WireTypeForFieldType(static_cast<Wire::FieldType>(field.type()))) {
      case Wire::WIRETYPE_FIXED32:
        ASSERT_TRUE(stream.ReadLittleEndian32(&word));
        to.AddFixed32(field.number(), word);
        break;
      case Wire::WIRETYPE_FIXED64:
        ASSERT_TRUE(stream.ReadLittleEndian64(&number));
        to.AddFixed64(field.number(), number);
        break;
      default:
        ASSERT_TRUE(stream.ReadVarint64(&number));
        to.AddVarint(field.number(), number);
    }
  }
}

/// Fields in a random order, those of one number in theirs; numbers unpacked.
inline std::string shuffled(const std::string& bytes, const pb::Descriptor& type, Random& random) {
  pb::UnknownFieldSet packed;
  EXPECT_TRUE(packed.ParseFromString(bytes));
  pb::UnknownFieldSet fields;
  for (int i = 0; i < packed.field_count(); ++i) {
    const FieldDescriptor* const field = type.FindFieldByNumber(packed.field(i).number());
    if (field != nullptr && field->is_packed()) {
      unpack(packed.field(i).length_delimited(), *field, fields);
    } else {
      fields.AddField(packed.field(i));
    }
  }
  std::vector<int> numbers;
  std::map<int, std::vector<int>> places;  // of each number, the last one first
  for (int i = fields.field_count() - 1; i >= 0; --i) {
    numbers.push_back(fields.field(i).number());
    places[fields.field(i).number()].push_back(i);
  }
  for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
  pb::UnknownFieldSet result;
  for (const int number : numbers) {
    result.AddField(fields.field(places[number].back()));
    places[number].pop_back();
  }
  std::string text;
  EXPECT_TRUE(result.SerializeToString(&text));
  return text;
}

/// Every message of a field that holds one, in two: neither needs to have all that it must, both together do.
inline std::string in_parts(const std::string& bytes, const pb::Descriptor& type, Random& random) {
  pb::UnknownFieldSet whole;
  EXPECT_TRUE(whole.ParseFromString(bytes));
  pb::UnknownFieldSet result;
  for (int i = 0; i < whole.field_count(); ++i) {
    const FieldDescriptor* const field = type.FindFieldByNumber(whole.field(i).number());
    if (field == nullptr || field->is_repeated() || field->message_type() == nullptr) {
      result.AddField(whole.field(i));
      continue;
    }
    const std::string inner = in_parts(whole.field(i).length_delimited(), *field->message_type(), random);
    pb::UnknownFieldSet fields;
    EXPECT_TRUE(fields.ParseFromString(inner));
    pb::UnknownFieldSet parts[2];
    const std::uint64_t drawn = random.bits();  // a bit for each number: its fields stay in their order
    for (int k = 0; k < fields.field_count(); ++k) {
      parts[drawn >> (fields.field(k).number() % 64) & 1U].AddField(fields.field(k));
    }
    for (const pb::UnknownFieldSet& part : parts) {
      EXPECT_TRUE(part.SerializeToString(result.AddLengthDelimited(field->number())));
    }
  }
  std::string text;
  EXPECT_TRUE(result.SerializeToString(&text));
  return text;
}

}  // namespace mf::codec
