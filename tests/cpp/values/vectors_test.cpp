// Files of values as Python has written and read them (tests/vectors/values): C++ writes the same bytes,
// reads the same values, and says the same words.
#include <gtest/gtest.h>

#include "values/stored_values.hpp"

namespace mf::values {
namespace {

template <class T>
json::value read_all(const std::vector<std::byte>& bytes) {
  json::array values;
  try {
    ValueReader<T> reader(memory_source(bytes), "FILE");
    while (auto value = reader.next()) {
      if (*value)
        values.push_back(json::parse(to_json(value->value())));
      else
        values.push_back(json::object{{"fault", told(value->failure())}});
    }
  } catch (const Error& refused) {
    return json::object{{"refused", told(refused)}};
  }
  return json::object{{"values", std::move(values)}};
}

TEST(ValueVectors, EachFileIsReadAsTheOtherLanguageReadsIt) {
  std::size_t files = 0;
  const auto all = vectors();
  for (const auto& file : all.at("files").as_array()) {
    SCOPED_TRACE(text_at(file, "name"));
    with_type(text_at(file, "type"), [&]<class T>() {
      EXPECT_EQ(json::serialize(read_all<T>(bytes_at(file, "hex"))),
                json::serialize(file.at("read").at(MF_STORED_SCHEMA)));
    });
    ++files;
  }
  EXPECT_GE(files, 12U);
}

TEST(ValueVectors, EachFileIsWrittenAsTheOtherLanguageWritesIt) {
  const Folder folder;
  std::size_t files = 0;
  const auto all = vectors();
  for (const auto& file : all.at("files").as_array()) {
    if (text_at(file, "schema") != MF_STORED_SCHEMA) continue;
    SCOPED_TRACE(text_at(file, "name"));
    const auto bytes = bytes_at(file, "hex");
    const auto path = folder / ("file" + std::to_string(files++));
    with_type(text_at(file, "type"), [&]<class T>() {
      ValueReader<T> reader(memory_source(bytes), "FILE");
      ValueWriter<T> writer(path);
      while (auto value = reader.next()) writer.write(value->value());
      EXPECT_EQ(writer.count(), reader.number());
      writer.close();
    });
    EXPECT_EQ(contents(path), bytes);
  }
  EXPECT_GE(files, 4U);
}

TEST(ValueVectors, WhatIsDamagedIsToldInTheSameWordsBehindTheSameValues) {
  if (std::string_view(MF_STORED_SCHEMA) != "old") return;  // the hostile files are of that schema
  std::size_t files = 0;
  const auto all = vectors();
  for (const auto& file : all.at("hostile").as_array()) {
    SCOPED_TRACE(text_at(file, "name"));
    const auto read = read_all<stored::Point>(bytes_at(file, "hex"));
    std::string fault;
    std::int64_t values = 0;
    if (const auto* const refused = read.as_object().if_contains("refused")) {
      fault = refused->as_string();
    } else {
      for (const auto& each : read.at("values").as_array()) {
        const auto* const object = each.if_object();
        if (object != nullptr && object->contains("fault"))
          fault = object->at("fault").as_string();
        else
          ++values;
      }
    }
    const auto expected = text_at(file, "fault");
    // What is wrong within a value each language says in words of its own.
    auto compared = expected.size();
    const std::string_view before = "Point, at byte 0: ";
    if (const auto at = expected.find(before); at != std::string::npos) compared = at + before.size();
    EXPECT_EQ(fault.substr(0, compared), expected.substr(0, compared));
    EXPECT_EQ(values, file.at("values").as_int64());
    ++files;
  }
  EXPECT_GE(files, 30U);
}

}  // namespace
}  // namespace mf::values
