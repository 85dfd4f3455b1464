// tests/vectors/codec/*.json: bytes that both runtimes agree on, written and read by generated code.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "bytes.hpp"
#include "shapes_json.hpp"

namespace mf::codec {
namespace {

namespace json = boost::json;
namespace shapes = vectors::shapes;

struct Vector {
  std::string name;
  std::string type;  // or a method's implicit struct
  std::string tier;
  json::value value;
  ByteVector bytes;
};

std::vector<Vector> read_vectors() {
  std::vector<Vector> vectors;
  for (const char* file : {"febird.json", "memcpy.json"}) {
    std::ifstream stream(std::string(MF_SOURCE_DIR "/tests/vectors/codec/") + file);
    std::stringstream text;
    text << stream.rdbuf();
    const json::value all = json::parse(text.str());
    for (const json::value& each : all.as_array()) {
      const json::object& object = each.as_object();
      const auto* type = object.if_contains("type");
      vectors.push_back({std::string(object.at("name").as_string()),
                         std::string((type != nullptr ? *type : object.at("method")).as_string()),
                         std::string(object.at("tier").as_string()), object.at("value"),
                         from_hex(object.at("hex").as_string())});
    }
  }
  return vectors;
}

/// What is done with the values of one type; T is the C++ type, `field` that of a result which is alone.
struct Subject {
  std::string tier;
  std::function<void(const Vector&)> check;
  std::function<void(const ByteVector&)> feed;
};

template <Tier kTier, class T>
void check_vector(const Vector& vector, const char* field) {
  const json::value& from = field != nullptr ? vector.value.as_object().at(field) : vector.value;
  const T value = shapes::made_from<T>(from);
  EXPECT_EQ(to_hex(to_bytes<kTier>(value)), to_hex(vector.bytes));
  T back{};
  DecodeError error;
  EXPECT_TRUE(from_bytes<kTier>(std::span(vector.bytes), back, error)) << error.message();
  EXPECT_TRUE(back == value);
  for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
    T partial{};
    EXPECT_FALSE(from_bytes<kTier>(std::span(vector.bytes).first(size), partial, error))
        << "of " << size << " bytes";
  }
}

/// Bytes are either refused with a reason, or a value has exactly them (padding aside).
template <Tier kTier, class T>
void feed(const ByteVector& bytes) {
  T value{};
  DecodeError error;
  if (!from_bytes<kTier>(std::span(bytes), value, error)) {
    EXPECT_FALSE(error.reason.empty());
    EXPECT_LE(error.offset, bytes.size());
    return;
  }
  const ByteVector again = to_bytes<kTier>(value);
  EXPECT_EQ(again.size(), bytes.size());
  T twice{};
  EXPECT_TRUE(from_bytes<kTier>(std::span(again), twice, error)) << error.message();
  EXPECT_EQ(to_hex(to_bytes<kTier>(twice)), to_hex(again));
}

template <Tier kTier, class T>
Subject subject(const char* field = nullptr) {
  return {kTier == Tier::memcpy ? "memcpy" : "febird",
          [field](const Vector& vector) { check_vector<kTier, T>(vector, field); },
          [](const ByteVector& bytes) { feed<kTier, T>(bytes); }};
}

template <class M>
Subject request() {
  return subject<M::kRequestTier, typename M::Request>();
}

template <class M>
Subject result(const char* field = nullptr) {
  return subject<M::kResultTier, typename M::Result>(field);
}

std::map<std::string, Subject> subjects() {
  namespace methods = shapes::methods;
  std::map<std::string, Subject> all{
      {"Integers", subject<Tier::febird, shapes::Integers>()},
      {"Scalars", subject<Tier::memcpy, shapes::Scalars>()},
      {"Posting", subject<Tier::memcpy, shapes::Posting>()},
      {"Nothing", subject<Tier::memcpy, shapes::Nothing>()},
      {"Nested", subject<Tier::memcpy, shapes::Nested>()},
      {"Texts", subject<Tier::febird, shapes::Texts>()},
      {"Hit", subject<Tier::febird, shapes::Hit>()},
      {"Lists", subject<Tier::febird, shapes::Lists>()},
      {"Maps", subject<Tier::febird, shapes::Maps>()},
      {"Tree", subject<Tier::febird, shapes::Tree>()},
      {"Defaults", subject<Tier::febird, shapes::Defaults>()},
      {"NoSuchCollection", subject<Tier::febird, shapes::NoSuchCollection>()},
      {"Duplicate", subject<Tier::febird, shapes::Duplicate>()},
      {"Empty", subject<Tier::febird, shapes::Empty>()},
      {"Index.nothing.params", request<methods::IndexNothing>()},
      {"Index.one.params", request<methods::IndexOne>()},
      {"Index.one.results", result<methods::IndexOne>("value")},
      {"Index.query.params", request<methods::IndexQuery>()},
      {"Index.query.results", result<methods::IndexQuery>("value")},
      {"Index.stats.results", result<methods::IndexStats>()},
      {"Index.named.results", result<methods::IndexNamed>()},
      {"Index.touch.params", request<methods::IndexTouch>()},
  };
  return all;
}

/// Null for what has no C++ type: the results of a method without results.
const Subject* subject_of(const Vector& vector) {
  static const auto kAll = subjects();
  if (vector.type == "vectors.shapes.Index.nothing.results") return nullptr;
  return &kAll.at(vector.type.substr(std::string_view("vectors.shapes.").size()));
}

TEST(CodecVectors, AreWrittenAndReadByGeneratedCode) {
  const auto vectors = read_vectors();
  ASSERT_GE(vectors.size(), 30U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.name);
    const Subject* const subject = subject_of(vector);
    if (subject == nullptr) {
      EXPECT_TRUE(vector.bytes.empty());
      continue;
    }
    EXPECT_EQ(subject->tier, vector.tier);
    subject->check(vector);
  }
}

/// Corruptions in all; `make fuzz` asks for more.
int fuzz_runs() {
  const char* const asked = std::getenv("MF_FUZZ_RUNS");
  return asked != nullptr ? std::atoi(asked) : 5000;
}

TEST(CodecFuzz, CorruptedVectorsAreRefusedOrAreAnotherValue) {
  std::mt19937 random(20'260'101);
  const auto vectors = read_vectors();
  for (int run = 0; run < fuzz_runs(); ++run) {
    const Vector& vector = vectors[static_cast<std::size_t>(run) % vectors.size()];
    const Subject* const subject = subject_of(vector);
    if (subject == nullptr) continue;
    ByteVector bytes = vector.bytes;
    for (std::size_t changes = random() % 4; changes > 0 && !bytes.empty(); --changes) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) bytes.push_back(static_cast<std::byte>(random()));
    subject->feed(bytes);
  }
}

TEST(GeneratedTypes, HaveTheDefaultsOfTheSchema) {
  const shapes::Defaults value;
  EXPECT_EQ(value.limit, shapes::MAX_HITS);
  EXPECT_EQ(value.rank, shapes::Rank::pagerank);
  EXPECT_EQ(value.title, "untitled");
  EXPECT_EQ(value.stop_words, shapes::STOP_WORDS);
  EXPECT_EQ(value.wait, shapes::TIMEOUT);
  EXPECT_TRUE(value.open);
  EXPECT_EQ(shapes::IndexQueryRequest{}.limit, 10U);
}

TEST(GeneratedTypes, NameTheMembersOfEnums) {
  EXPECT_EQ(name(shapes::Rank::pagerank), "pagerank");
  EXPECT_EQ(name(static_cast<shapes::Lang>(7)), "");
}

TEST(GeneratedTypes, ThrowErrorsAsTheirOwnType) {
  const shapes::NoSuchCollection error("books");
  const auto copy = static_cast<const DeclaredError&>(error).clone();
  EXPECT_STREQ(copy->type_name(), "vectors.shapes.NoSuchCollection");
  try {
    copy->raise();
  } catch (const shapes::NoSuchCollection& caught) {
    EXPECT_EQ(caught, error);
  }
}

TEST(GeneratedTypes, SayTheFieldsOfAnErrorThatWasThrown) {
  try {
    throw shapes::NoSuchCollection("books");
  } catch (const std::exception& caught) {
    EXPECT_STREQ(caught.what(), "vectors.shapes.NoSuchCollection{name: \"books\"}");
    EXPECT_EQ(caught.what(), caught.what());  // the same text, which lives as long as the error
  }
}

TEST(GeneratedTypes, SayTheFieldsOfEachCopyOfAnError) {
  shapes::NoSuchCollection error("books");
  EXPECT_NE(std::string(error.what()).find("books"), std::string::npos);
  auto copy = error;
  copy.name = "songs";
  EXPECT_STREQ(copy.what(), "vectors.shapes.NoSuchCollection{name: \"songs\"}");
  copy = error;
  EXPECT_STREQ(copy.what(), error.what());
}

TEST(GeneratedTypes, SayLittleOfAnErrorThatIsLarge) {
  const shapes::NoSuchCollection error(std::string(1 << 20, 'a'));
  EXPECT_LT(std::string_view(error.what()).size(), 5000U);
}

TEST(GeneratedTypes, CheckTheirConstraints) {
  using namespace std::chrono_literals;
  const shapes::Bounded good{.limit = 1, .terms = {"a"}, .weight = 0.5, .scores = {{"k", 1.0F}}, .wait = 1s};
  EXPECT_EQ(violation(good), std::nullopt);
  auto bad = good;
  bad.limit = 5000;
  EXPECT_EQ(violation(bad), "limit: 5000 is not in 1..1000");
  bad = good;
  bad.terms = {"ok", ""};
  EXPECT_EQ(violation(bad), "terms[1]: a length of 0 is not in 1..8");
  bad = good;
  bad.scores = {{"", 0.0F}};
  EXPECT_EQ(violation(bad), "scores[0]: a length of 0 is not in 1..");
  bad = good;
  bad.wait = 61s;
  EXPECT_EQ(violation(bad), "wait: 61000000000 is not in 0..60000000000");
  EXPECT_EQ(violation(shapes::IndexQueryRequest{.terms = {}, .limit = 0}), "limit: 0 is not in 1..1000");
  EXPECT_EQ((violation_of<shapes::IndexQueryRequest>(std::vector<std::string>{}, std::uint32_t{1})),
            std::nullopt);
}

}  // namespace
}  // namespace mf::codec
