// Tier archive against protobuf's own runtime: it parses what we write, and we parse what it writes. Its
// messages are what `mfidlc proto` prints for tests/vectors/schemas/wide.mfidl, read when the test runs.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "bytes.hpp"
#include "protobuf_bytes.hpp"
#include "protobuf_filler.hpp"
#include "wide_subjects.hpp"
#include "wide_vectors.hpp"

namespace mf::codec {
namespace {

class ProtobufOracle : public testing::Test {
 protected:
  ProtobufOracle() : factory_(&pool_) {
    std::ifstream stream(MF_WIDE_DESCRIPTORS, std::ios::binary);
    pb::FileDescriptorSet files;
    if (!files.ParseFromIstream(&stream) || files.file_size() != 1)
      throw std::runtime_error(MF_WIDE_DESCRIPTORS);
    file_ = pool_.BuildFile(files.file(0));
    comparator_.set_treat_nan_as_equal(true);
    differencer_.set_field_comparator(&comparator_);
    for (int i = 0; i < file_->message_type_count(); ++i) treat(*file_->message_type(i));
  }

  /// A new message; `name` without its package.
  std::unique_ptr<Message> make(const std::string& name) {
    const pb::Descriptor* const type = file_->FindMessageTypeByName(name);
    if (type == nullptr) throw std::runtime_error(name);
    return std::unique_ptr<Message>(factory_.GetPrototype(type)->New());
  }

  /// What we make of these bytes is, to protobuf, `expected`.
  void expect_rewritten(const std::string& bytes, const Message& expected) {
    const auto ours = subject_of(expected.GetTypeName()).rewrite(bytes_of(bytes), {});
    ASSERT_TRUE(ours) << ours.error().message() << "\n" << expected.DebugString();
    const std::unique_ptr<Message> back(expected.New());
    ASSERT_TRUE(back->ParseFromString(text_of(*ours))) << to_hex(*ours);
    std::string differences;
    differencer_.ReportDifferencesToString(&differences);
    EXPECT_TRUE(differencer_.Compare(expected, *back)) << differences;
  }

 private:
  void treat(const pb::Descriptor& type) {
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (is_set(field)) differencer_.TreatAsSet(&field);
      if (is_map(field)) differencer_.TreatAsMap(&field, field.message_type()->FindFieldByNumber(1));
    }
    for (int i = 0; i < type.nested_type_count(); ++i) treat(*type.nested_type(i));
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_;
  const pb::FileDescriptor* file_;
  pb::util::DefaultFieldComparator comparator_;
  pb::util::MessageDifferencer differencer_;
};

constexpr const char* kTypes[] = {
    "ArchiveBool",   "ArchiveI8",        "ArchiveI16",      "ArchiveI32",  "ArchiveI64",
    "ArchiveU8",     "ArchiveU16",       "ArchiveU32",      "ArchiveU64",  "ArchiveF32",
    "ArchiveF64",    "ArchiveTimestamp", "ArchiveDuration", "ArchiveUuid", "ArchiveRank",
    "ArchiveSign",   "ArchiveLang",      "ArchiveSerial",   "ArchivePart", "ArchiveWide",
    "ArchiveString", "ArchiveBytes",     "Person",          "Contact",     "Config",
};

TEST_F(ProtobufOracle, TakesTheBytesOfEveryVectorAndGivesThemBack) {
  for (const std::string file : {"archive", "graphs"}) {
    const auto vectors = load(file);
    ASSERT_GE(vectors.size(), 100U);
    for (const Vector& vector : vectors) {
      SCOPED_TRACE(vector.at("name"));
      const Subject& subject = subject_of(vector.at("type"));
      const auto ours = subject.write(vector.at("json"));
      ASSERT_TRUE(ours) << ours.error().message();
      const auto message = make(vector.at("type").substr(13) + (file == "graphs" ? "Graph" : ""));
      ASSERT_TRUE(message->ParseFromString(text_of(*ours))) << to_hex(*ours);
      visit(std::as_const(*message), [](const Message& each) {
        EXPECT_TRUE(each.GetReflection()->GetUnknownFields(each).empty()) << each.DebugString();
      });
      const auto back = subject.read(bytes_of(deterministic(*message)));
      ASSERT_TRUE(back) << back.error().message();
      EXPECT_EQ(*back, vector.at("json"));
    }
  }
}

TEST_F(ProtobufOracle, FindsItsOwnMessagesInWhatWeMakeOfThem) {
  Filler filler(4);
  Random random(5);
  int messages = 0;
  for (const char* const type : kTypes) {
    SCOPED_TRACE(type);
    for (int i = 0; i < 100; ++i, ++messages) {
      SCOPED_TRACE(i);
      const auto message = make(type);
      filler.fill(*message, 3);
      const std::string bytes = deterministic(*message);
      const std::string other = shuffled(bytes, *message->GetDescriptor(), random);
      say_defaults(*message);
      expect_rewritten(bytes, *message);
      expect_rewritten(other, *message);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(messages, 2000);
}

/// One message behind another is, to protobuf, one that has the fields of both.
TEST_F(ProtobufOracle, MergesAsWeDo) {
  Filler filler(6);
  for (const char* const type : {"Person", "Contact"}) {
    SCOPED_TRACE(type);
    for (int i = 0; i < 400; ++i) {
      SCOPED_TRACE(i);
      const auto first = make(type);
      const auto second = make(type);
      filler.fill(*first, 3);
      filler.fill(*second, 3);
      const std::string bytes = deterministic(*first) + deterministic(*second);
      ASSERT_TRUE(first->ParseFromString(bytes));
      drop_older_entries(*first);
      expect_rewritten(bytes, *first);
      if (HasFailure()) return;
    }
  }
}

/// What one part of a message lacks, another one may have.
TEST_F(ProtobufOracle, TakesAMessageInParts) {
  Filler filler(7);
  Random random(8);
  int wholes = 0;
  for (const char* const type : {"Person", "Contact", "Config"}) {
    SCOPED_TRACE(type);
    for (int i = 0; i < 200; ++i) {
      SCOPED_TRACE(i);
      const auto message = make(type);
      filler.fill(*message, 3);
      const std::string bytes = deterministic(*message);
      const std::string parts = in_parts(bytes, *message->GetDescriptor(), random);
      wholes += parts == bytes;
      say_defaults(*message);
      expect_rewritten(parts, *message);
      if (HasFailure()) return;
    }
  }
  EXPECT_LT(wholes, 500);  // the others had messages to take apart
}

}  // namespace
}  // namespace mf::codec
