// Graphs in tier archive: tables, identity, cycles, chains, and what is refused.
#include <gtest/gtest.h>

#include "archive_samples.hpp"

namespace mf::codec {
namespace {

using now::Config;
using now::Contact;
using now::Page;
using now::Person;

/// root -> itself, two people that refer to each other, and one that only the root refers to.
Graph<Config> family() {
  Graph<Config> graph;
  const auto ann = graph.make<Person>({.name = "ann"});
  const auto bob = graph.make<Person>({.name = "bob", .boss = ann, .friends = {ann, ann}});
  ann->boss = bob;
  ann->by_name = {{"b", bob}};
  graph->name = "root";
  graph->parent = graph.root();
  graph->owner = bob;
  graph->contact = Contact::of_person(ann);
  graph->inside = Person{.name = "in", .boss = ann};
  graph->others = {std::nullopt, bob};
  return graph;
}

TEST(Graph, ObjectsLieInTablesByTheOrderInWhichTheyAreMet) {
  expect_archive(family(),
                 "0a 1c 0a04 726f6f74 10 00 18 00 22 02 10 01 2a 06 0a02 696e 10 01 32 00 32 02 08 00 "
                 "12 0b 0a03 626f62 10 01 1a 02 01 01 12 0e 0a03 616e6e 10 00 22 05 0a 01 62 10 00");
}

TEST(Graph, SharedObjectsStaySharedAndCyclesClose) {
  const auto graph = decoded<Graph<Config>>(std::string_view(to_hex(mf::to_bytes(family()))));
  EXPECT_EQ(graph->parent.get(), &graph.root());
  EXPECT_EQ(graph->owner->friends[0], graph->owner->friends[1]);
  EXPECT_EQ(graph->owner->boss->boss, graph->owner);
  EXPECT_EQ(graph->contact.person(), graph->owner->boss);
  EXPECT_EQ(graph->inside->boss, graph->owner->boss);
  EXPECT_FALSE(graph->others[0].has_value());
  EXPECT_EQ(*graph->others[1], graph->owner);
}

TEST(Graph, ACopyIsDeepAndEqual) {
  const Graph<Config> graph = family();
  Graph<Config> copy = graph;
  EXPECT_TRUE(copy == graph);
  EXPECT_EQ(copy->parent.get(), &copy.root());
  EXPECT_NE(copy->owner, graph->owner);
  copy->owner->name = "carl";
  EXPECT_FALSE(copy == graph);
  EXPECT_TRUE(graph < copy);
  copy = graph;
  EXPECT_TRUE(copy == graph);
}

TEST(Graph, AMovedGraphLeavesANewOne) {
  Graph<Config> graph = family();
  const auto* const root = &graph.root();
  const Graph<Config> moved = std::move(graph);
  EXPECT_EQ(&moved.root(), root);
  EXPECT_TRUE(graph == Graph<Config>());  // NOLINT(bugprone-use-after-move)
}

TEST(Graph, AnObjectThatNothingRefersToIsKept) {
  Graph<Person> graph(Person{.name = "a"});
  const auto lonely = graph.make<Person>({.name = "b"});
  graph->boss = graph.make<Person>({.name = "c"});
  lonely->boss = graph.root();
  expect_archive(graph, "0a 05 0a0161 10 01 0a 03 0a0163 0a 05 0a0162 10 00");
}

TEST(Graph, AChainMayHaveAnyLength) {
  constexpr int kLength = 100'000;
  Graph<Person> graph;
  Person* last = &graph.root();
  for (int i = 1; i < kLength; ++i) {
    last->boss = graph.make<Person>({.name = std::to_string(i)});
    last = last->boss.get();
  }
  last->boss = graph.root();
  const auto read = mf::from_bytes<Graph<Person>>(mf::to_bytes(graph));
  ASSERT_TRUE(read);
  const Graph<Person> copy = *read;
  int length = 1;
  for (const Person* each = copy->boss.get(); each != &copy.root(); each = each->boss.get()) ++length;
  EXPECT_EQ(length, kLength);
  EXPECT_TRUE(copy == graph);
}

TEST(Graph, ObjectsMayHoldMemoryByTheirDefaults) {
  Graph<Page> graph;
  graph->next = graph.make<Page>();
  graph->next->words = {"own"};
  graph->next->next = graph.make<Page>({.next = graph.root()});
  Graph<Page> copy = decoded<Graph<Page>>(std::string_view(to_hex(mf::to_bytes(graph))));
  EXPECT_TRUE(copy == graph);
  EXPECT_EQ(copy->next->next->next.get(), &copy.root());
  EXPECT_EQ(copy->next->next->words, Page().words);
  const Graph<Page> again = copy;
  copy->next->words.emplace_back("more");
  EXPECT_TRUE(again == graph);
}

TEST(Graph, WhatObjectsHoldByTheirDefaultsIsChargedBeforeTheyAreMade) {
  const auto bytes = from_hex("0a 00 0a 00 0a 00");
  Limits limits;
  limits.decoded_bytes = 3 * kSizeOfNew<Page>;
  EXPECT_TRUE(mf::from_bytes<Graph<Page>>(bytes, limits));
  limits.decoded_bytes = 3 * sizeof(Page) + 2 * kHeapOfNew<Page>;
  const auto refused = mf::from_bytes<Graph<Page>>(bytes, limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::budget_exceeded);
}

TEST(Graph, WhatIsNoGraphIsRefused) {
  EXPECT_EQ(told<Graph<Person>>(""), "invalid_reference at 0 in Person");
  EXPECT_EQ(told<Graph<Person>>("0a 05 0a0161 10 01"), "invalid_reference at 6 in Person.person[0].boss");
  EXPECT_EQ(told<Graph<Person>>("0a 06 0a0161 1a 01 07"),
            "invalid_reference at 7 in Person.person[0].friends[0]");
  EXPECT_EQ(told<Graph<Person>>("0a 00"), "missing_field at 2 in Person.person[0].name");
  EXPECT_EQ(told<Graph<Person>>("08 00"), "wrong_wire_type at 0 in Person");
  EXPECT_EQ(told<Graph<Person>>("0a 03 0a0161 0a"), "truncated at 6 in Person");
  EXPECT_EQ(told<Graph<Person>>("0a 09 0a0161"), "count_too_large at 1 in Person");
  EXPECT_EQ(told<Graph<Person>>("0a 03 0a0161 12 01 61"), "decoded");  // a table of a newer schema
  EXPECT_EQ(told<Graph<Config>>("12 03 0a0161"), "invalid_reference at 5 in Config");
  EXPECT_EQ(told<Graph<Config>>("0a 00"), "missing_field at 2 in Config.config[0].name");
}

TEST(Graph, AnElementOfAnotherFormIsNamedByItsPlace) {
  EXPECT_EQ(told<Graph<Person>>("0a 0c 0a0161 1a 02 0000 1d 00000000"),
            "wrong_wire_type at 9 in Person.person[0].friends[2]");
  EXPECT_EQ(told<Graph<Person>>("0a 09 0a0161 22 02 0a00 20 00"),
            "wrong_wire_type at 9 in Person.person[0].by_name[1]");
}

TEST(Graph, ABillionObjectsAreNotMadeOfNothing) {
  ByteVector bytes;
  for (int i = 0; i < 2'000'000; ++i) {
    bytes.push_back(std::byte{0x0a});
    bytes.push_back(std::byte{0x00});
  }
  EXPECT_EQ(told<Graph<Person>>(bytes).substr(0, 15), "budget_exceeded");
}

/// What mf::to_bytes throws.
std::string refused(const Graph<Config>& graph) {
  try {
    (void)mf::to_bytes(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.message();
  }
  return "written";
}

TEST(Graph, ANullReferenceWhereOneIsWantedIsAViolation) {
  Graph<Config> graph = family();
  EXPECT_EQ(violation(graph), std::nullopt);
  EXPECT_EQ(refused(graph), "written");
  graph->owner = nullptr;
  EXPECT_EQ(violation(graph), "config[0].owner: the reference is null");
  EXPECT_EQ(refused(graph), "Config.config[0].owner: the reference is null");
  graph->owner = graph->contact.person();
  graph->owner->friends.push_back(nullptr);
  EXPECT_EQ(violation(graph), "person[0].friends[0]: the reference is null");
  EXPECT_EQ(refused(graph), "Config.person[0].friends[0]: the reference is null");
  const now::Holder holder{.config = graph};
  EXPECT_EQ(violation(holder), "config.person[0].friends[0]: the reference is null");
}

// --- archives and custom values in febird

TEST(ArchiveInFebird, StandsBehindItsLength) {
  now::Holder holder{.id = 1, .pairs = {{.a = 1, .b = 2}}, .geo = {.latitude = 1, .longitude = -1}};
  holder.config = Graph<Config>(Config{.name = "c"});
  holder.choice = now::Choice::of_text("t");
  holder.people.emplace("p", Person{.name = "q"});
  holder.config->owner = holder.config.make<Person>({.name = "o"});
  const ByteVector bytes = mf::to_bytes(holder);
  EXPECT_EQ(to_hex(bytes), to_hex(from_hex("01 10 0a 09 0a0163 18 00 22 02 0a00 12 03 0a016f 01 04 0801 1002 "
                                           "06 010000 ffffff 01 03 0a0174 01 01 70 05 0a 03 0a0171")));
  const auto back = mf::from_bytes<now::Holder>(bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(*back == holder);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(mf::from_bytes<now::Holder>(std::span(bytes).first(size))) << size;
  }
}

}  // namespace
}  // namespace mf::codec
