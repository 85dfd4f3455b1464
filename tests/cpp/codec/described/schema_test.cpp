// A descriptor and its annex as tables; whatever a peer says instead is refused, bounded.
#include "mf/codec/described/schema.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mf::described {
namespace {

constexpr std::string_view kDescriptor =
    "service sf1.search.Index\n"
    " per collection string\n"
    " method query\n"
    "  params febird\n"
    "   terms list<string>\n"
    "   limit u32\n"
    "  results febird\n"
    "   value list<sf1.search.Hit>\n"
    "  throws sf1.search.NoSuchCollection\n"
    " method touch\n"
    "  oneway\n"
    "  params memcpy\n"
    "   doc u32\n"
    " method scan\n"
    "  params memcpy\n"
    "   on bool\n"
    "   from u32\n"
    "  results memcpy\n"
    "  results_stream sf1.search.Posting\n"
    "type sf1.search.Config struct archive\n"
    " name 1: string\n"
    " parent 4: ref<sf1.search.Config>?\n"
    "type sf1.search.Field flags u16\n"
    " title 0\n"
    " body 1\n"
    "type sf1.search.Geo struct custom\n"
    "type sf1.search.Hit struct febird\n"
    " doc u32\n"
    " title string\n"
    "type sf1.search.NoSuchCollection error febird\n"
    " name string\n"
    "type sf1.search.Posting struct memcpy\n"
    " kind u8\n"
    " at array<i32, 3>\n"
    " where uuid\n"
    " when timestamp\n"
    "type sf1.search.Rank enum i8 closed\n"
    " worst -1\n"
    " bm25 0\n"
    " pagerank 1\n"
    "type sf1.search.Value union febird\n"
    " number 1: f64\n"
    " config 2: sf1.search.Config\n"
    " rank 7: map<sf1.search.Rank,list<sf1.search.Hit?>>\n";

constexpr std::string_view kAnnex =
    "annex sf1.search.Index\n"
    " method query\n"
    "  was search\n"
    "  params\n"
    "   terms\n"
    "    constraint length ..16\n"
    "    element\n"
    "     constraint length 1..64\n"
    "   limit\n"
    "    was most\n"
    "    was upto\n"
    "    default 10\n"
    " method scan\n"
    "  results_stream\n"
    "   constraint length ..4096\n"
    "type sf1.search.Hit\n"
    " title\n"
    "  default \"untitled\"\n"
    "  constraint length 1..256\n";

Schema good(std::string_view descriptor, std::string_view annex = {}) {
  auto schema = Schema::read(descriptor, annex);
  EXPECT_TRUE(schema.ok()) << (schema.ok() ? "" : schema.error().message());
  return schema.ok() ? std::move(*schema) : Schema();
}

std::string refusal(std::string_view descriptor, std::string_view annex = {}) {
  const auto schema = Schema::read(descriptor, annex);
  return schema.ok() ? "" : schema.error().reason;
}

std::string with_types(std::string_view types) {
  return "service a.S\n" + std::string(types);
}

TEST(DescribedSchema, MakesTheValueOfADefaultOnce) {
  Schema schema = good(kDescriptor, kAnnex);
  const auto& field = schema.fields(schema.type(schema.method("query")->params))[1];
  const auto first = schema.default_value(field);
  const auto again = schema.default_value(field);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->size(), 1U) << "10 in febird";
  EXPECT_EQ(first->data(), again->data()) << "messages that lack the field do not parse the default";
  const Schema moved = std::move(schema);
  EXPECT_EQ(moved.default_value(field)->data(), first->data());
}

TEST(DescribedSchema, RefusesADefaultThatIsNoValueOfItsType) {
  const Schema schema = good(kDescriptor,
                             "annex sf1.search.Index\n"
                             " method query\n"
                             "  params\n"
                             "   limit\n"
                             "    default \"ten\"\n");
  const auto& field = schema.fields(schema.type(schema.method("query")->params))[1];
  EXPECT_FALSE(schema.default_value(field).ok());
  EXPECT_FALSE(schema.default_value(field).ok()) << "nor later";
}

TEST(DescribedSchema, KnowsMethodsWithParametersResultsErrorsAndStreams) {
  const Schema schema = good(kDescriptor, kAnnex);

  ASSERT_EQ(schema.methods().size(), 3U);
  EXPECT_EQ(schema.per(), "collection string");
  const Method& query = *schema.method("query");
  const Type& params = schema.type(query.params);
  EXPECT_TRUE(params.implicit);
  EXPECT_EQ(params.tier, Tier::febird);
  ASSERT_EQ(params.count, 2U);
  EXPECT_EQ(schema.type(schema.fields(params)[0].type).name, "list<string>");
  EXPECT_EQ(schema.fields(params)[1].type, index_of(Kind::u32));
  ASSERT_EQ(schema.throws(query).size(), 1U);
  EXPECT_EQ(schema.throws(query)[0], schema.declared("sf1.search.NoSuchCollection"));
  EXPECT_TRUE(schema.method("touch")->oneway);
  EXPECT_EQ(schema.method("touch")->results, kNoType);
  EXPECT_EQ(schema.method("scan")->results_stream, schema.declared("sf1.search.Posting"));
  EXPECT_EQ(schema.method("drop"), nullptr);
  EXPECT_EQ(schema.declared("sf1.search.Nothing"), kNoType);
}

TEST(DescribedSchema, TakesEarlierNamesAndDefaultsFromTheAnnex) {
  const Schema schema = good(kDescriptor, kAnnex);
  const Method& query = *schema.method("query");

  ASSERT_EQ(schema.was(query).size(), 1U);
  EXPECT_EQ(schema.was(query)[0], "search");
  const Field& limit = *schema.field(schema.type(query.params), "limit");
  ASSERT_EQ(schema.was(limit).size(), 2U);
  EXPECT_EQ(schema.was(limit)[1], "upto");
  EXPECT_EQ(limit.default_json, "10");
  const Type& hit = schema.type(schema.declared("sf1.search.Hit"));
  EXPECT_EQ(schema.field(hit, "title")->default_json, "\"untitled\"");
  EXPECT_EQ(schema.field(hit, "doc")->default_json, std::nullopt);
}

TEST(DescribedSchema, LaysOutWhatIsOfTierMemcpy) {
  const Schema schema = good(kDescriptor);

  const Type& posting = schema.type(schema.declared("sf1.search.Posting"));
  EXPECT_TRUE(posting.fixed);
  EXPECT_TRUE(posting.all_bits);
  EXPECT_EQ(schema.field(posting, "at")->offset, 4U);
  EXPECT_EQ(schema.field(posting, "where")->offset, 16U);
  EXPECT_EQ(schema.field(posting, "when")->offset, 32U);
  EXPECT_EQ(posting.size, 40U);
  EXPECT_EQ(posting.align, 8U);
  const Type& scan = schema.type(schema.method("scan")->params);
  EXPECT_EQ(scan.size, 8U);
  EXPECT_FALSE(scan.all_bits);  // a bool is one of two
}

TEST(DescribedSchema, FindsMembersByNumberAlsoBelowZero) {
  const Schema schema = good(kDescriptor);
  const Type& rank = schema.type(schema.declared("sf1.search.Rank"));

  EXPECT_EQ(find_number(schema, rank, static_cast<std::uint64_t>(-1)), 0U);
  EXPECT_EQ(find_number(schema, rank, 1), 2U);
  EXPECT_EQ(find_number(schema, rank, 2), std::nullopt);
  const Type& value = schema.type(schema.declared("sf1.search.Value"));
  EXPECT_EQ(find_field(schema, value, 7), 2U);
  EXPECT_EQ(find_field(schema, value, 3), std::nullopt);
}

TEST(DescribedSchema, MarksWhatRefersToObjectsThroughArchivesAlone) {
  const Schema schema = good(kDescriptor);

  EXPECT_TRUE(schema.type(schema.declared("sf1.search.Config")).linked);
  EXPECT_FALSE(schema.type(schema.declared("sf1.search.Value")).linked);  // febird: a graph of its own
  EXPECT_FALSE(schema.type(schema.declared("sf1.search.Hit")).linked);
}

TEST(DescribedSchema, KeepsItsNamesWhenItIsMovedAndTheTextsAreGone) {
  std::string text(kDescriptor);
  Schema schema = good(text);
  text.assign(text.size(), 'x');

  const Schema moved = std::move(schema);

  EXPECT_EQ(moved.name(), "sf1.search.Index");
  EXPECT_NE(moved.method("query"), nullptr);
}

TEST(DescribedSchema, ReadsTopicsAndValues) {
  const Schema topic = good("topic a.News\n per who string\n value a.New\ntype a.New struct memcpy\n x u8\n");
  EXPECT_EQ(topic.of(), Schema::Of::topic);
  EXPECT_EQ(topic.value(), topic.declared("a.New"));
  const Schema value = good("value a.New\ntype a.New struct memcpy\n x u8\n");
  EXPECT_EQ(value.of(), Schema::Of::value);
  EXPECT_EQ(value.value(), value.declared("a.New"));
}

TEST(DescribedSchema, RefusesATypeThatHoldsItselfByValue) {
  EXPECT_EQ(refusal(with_types("type a.A struct febird\n b a.B\ntype a.B struct febird\n a array<a.A,2>\n")),
            "type `a.A` holds itself by value");
  EXPECT_EQ(refusal(with_types("type a.U union febird\n u 1: a.U\n")), "type `a.U` holds itself by value");
  EXPECT_EQ(refusal(with_types("type a.A struct febird\n a a.A?\n b list<a.A>\n")), "");
}

TEST(DescribedSchema, RefusesMoreTypesThanItsBound) {
  std::string types;
  for (std::size_t i = 0; i <= kMaxDeclared; ++i)
    types += "type a.T" + std::to_string(i) + " struct memcpy\n";
  EXPECT_EQ(refusal(with_types(types)), "there are more than 4096 types");

  std::string expressions = "type a.T struct febird\n";
  for (std::size_t i = 1; i <= kMaxTypes; ++i)
    expressions += " f" + std::to_string(i) + " array<u8," + std::to_string(i) + ">\n";
  EXPECT_EQ(refusal(with_types(expressions)), "there are more than 32768 types and expressions of types");
}

TEST(DescribedSchema, RefusesATextThatIsTooLong) {
  EXPECT_EQ(refusal(std::string(kMaxText + 1, '\n')), "a descriptor or annex is longer than 1048576 bytes");
}

TEST(DescribedSchema, RefusesExpressionsAndTypesThatAreNestedTooDeep) {
  std::string deep = "u8";
  for (unsigned i = 0; i < kMaxNesting; ++i) deep = "list<" + deep + ">";
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n f " + deep + "\n")), "");
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n f list<" + deep + ">\n")),
            "an expression of types is nested too deep");
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n f u8" + std::string(100, '?') + "\n")),
            "an expression of types is nested too deep");

  std::string chain;
  for (unsigned i = 0; i <= kMaxDirect; ++i)
    chain += "type a.T" + std::to_string(i) + " struct febird\n f a.T" + std::to_string(i + 1) + "\n";
  chain += "type a.T" + std::to_string(kMaxDirect + 1) + " struct memcpy\n";
  EXPECT_EQ(refusal(with_types(chain)), "type `a.T512` is held by value too deep");
}

TEST(DescribedSchema, RefusesArraysThatNoMessageHolds) {
  EXPECT_EQ(refusal(with_types("type a.E struct febird\ntype a.T struct febird\n"
                               " f array<array<a.E,65536>,65536>\n")),
            "type `array<array<a.E,65536>,65536>` holds more values than any message");
  EXPECT_EQ(refusal(with_types("type a.T struct memcpy\n f array<u64,16777216>\n")),
            "type `array<u64,16777216>` is larger than any message");
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n f array<u8,99999999999>\n")),
            "an array has no length that it can have: `array<u8,99999999999>`");
}

TEST(DescribedSchema, RefusesWhatIsNoDescriptor) {
  EXPECT_EQ(refusal(""), "a descriptor names no service, topic or value");
  EXPECT_EQ(refusal("nonsense a\n"), "a descriptor begins with none of service, topic and value");
  EXPECT_EQ(refusal("service a.S\n method m\n  params febird\n   x a.T\n  results memcpy\n"),
            "the type `a.T` is not declared");
  EXPECT_EQ(refusal("service a.S\n method m\n  params archive\n"),
            "the parameters or results of a method are of tier `archive`");
  EXPECT_EQ(refusal("service a.S\n method m\n  params memcpy\n"),
            "method `m` has not the results that it should");
  EXPECT_EQ(refusal("service a.S\n method m\n  params memcpy\n   s string\n  results memcpy\n"),
            "type `` is of tier memcpy, but a field of it has no layout");
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n m map<f64,u8>\n")), "a key cannot be of type `f64`");
  EXPECT_EQ(refusal(with_types("type a.T struct archive\n x 2: u8\n y 1: u8\n")),
            "the numbers of fields do not ascend at `y`");
  EXPECT_EQ(refusal(with_types("type a.T enum u8 closed\n x 256\n")),
            "the number of `x` is none of its type");
  EXPECT_EQ(refusal(with_types("type a.T struct febird\n x u8\n x u8\n")),
            "field `x` of `a.T` is there twice");
  EXPECT_EQ(refusal("service a\xff.S\n"), "a descriptor or annex is not UTF-8");
}

TEST(DescribedSchema, TellsWhichLineIsWrong) {
  const auto schema = Schema::read("service a.S\ntype a.T struct febird\n x u9\n");
  ASSERT_FALSE(schema.ok());
  EXPECT_EQ(schema.error().offset, 35U);
}

TEST(DescribedSchema, RefusesAnAnnexThatTellsOfSomethingElse) {
  EXPECT_EQ(refusal("service a.S\n", "annex a.T\n"),
            "an annex describes `a.T`, which the descriptor does not have");
  EXPECT_EQ(refusal("service a.S\n", "annex a.S\n method m\n"),
            "an annex describes `m`, which the descriptor does not have");
  EXPECT_EQ(refusal(with_types("type a.T struct memcpy\n x u8\n"), "type a.T\n y\n"),
            "an annex describes `y`, which the descriptor does not have");
}

}  // namespace
}  // namespace mf::described
