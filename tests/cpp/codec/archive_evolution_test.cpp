// Old readers and new data, new readers and old data: archive.before and archive.after differ by every change
// that docs/evolution.md calls safe for tier archive.
#include <gtest/gtest.h>

#include "archive/after.hpp"
#include "archive/before.hpp"
#include "bytes.hpp"
#include "mf/codec/value.hpp"

namespace mf::codec {
namespace {

namespace after = ::archive::after;
namespace before = ::archive::before;

before::Stored old_value() {
  before::Stored value{.name = "n", .count = 200, .delta = -300, .text = "t", .lang = before::Lang::en};
  value.fields = before::Field::title;
  value.gone = "g";
  value.colour = "red";
  value.choice = before::Choice::of_number(5);
  value.limit = 9;
  value.weights = {1, 65'535};
  return value;
}

TEST(Evolution, NewReadersTakeOldData) {
  const auto value = mf::from_bytes<after::Stored>(mf::to_bytes(old_value()));
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->added, 7U);
  EXPECT_EQ(value->maybe, std::nullopt);
  EXPECT_TRUE(value->many.empty() && value->words.empty() && !value->extra);
  EXPECT_EQ(value->count, 200U);
  EXPECT_EQ(value->delta, -300);
  EXPECT_EQ(to_hex(value->text), "74");
  EXPECT_EQ(value->color, "red");
  EXPECT_EQ(value->limit, 9U);
  EXPECT_EQ(value->weights, (std::vector<std::uint64_t>{1, 65'535}));
  EXPECT_EQ(value->choice.number(), 5U);
  EXPECT_EQ(to_hex(value->unknown_fields.bytes), "3a 01 67");  // `gone`, which is not theirs any more
}

after::Stored new_value() {
  after::Stored value{
      .added = 8, .maybe = "m", .many = {1}, .extra = after::Extra{.x = 1}, .words = {{"w", 1}}};
  value.weights = {7};
  value.name = "n";
  value.count = 3;
  value.delta = -4;
  value.text = from_hex("78");
  value.lang = after::Lang::ko;
  value.fields = after::Field::title | after::Field::body;
  value.color = "blue";
  return value;
}

TEST(Evolution, OldReadersTakeNewDataAndLoseNothingOfIt) {
  const auto value = mf::from_bytes<before::Stored>(mf::to_bytes(new_value()));
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->name, "n");
  EXPECT_EQ(value->delta, -4);
  EXPECT_EQ(value->gone, "");
  EXPECT_EQ(value->colour, "blue");
  EXPECT_EQ(static_cast<int>(value->lang), 1);
  const auto again = mf::from_bytes<after::Stored>(mf::to_bytes(*value));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_hex(again->unknown_fields.bytes), "3a 00");  // an old writer always sends `gone`
  auto expected = new_value();
  expected.unknown_fields = again->unknown_fields;
  EXPECT_TRUE(*again == expected);
}

TEST(Evolution, OldReadersRefuseWhatTheirTypesCannotHold) {
  auto value = new_value();
  value.count = 256;
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::number_out_of_range);
  value = new_value();
  value.text = from_hex("ff");
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::invalid_utf8);
  value = new_value();
  value.choice = after::Choice::of_flag(true);
  EXPECT_EQ(mf::from_bytes<before::Stored>(mf::to_bytes(value)).error().fault, Fault::unknown_alternative);
}

// --- graphs, whose unknown fields may hold indices

/// a -> b -> c, and what old readers do not know: c's friend is b, b's part is of c, a's tag is on c.
Graph<after::Node> new_graph() {
  Graph<after::Node> graph;
  const auto b = graph.make<after::Node>({.name = "b", .parts = {}});
  const auto c = graph.make<after::Node>({.name = "c", .friend_ = b, .parts = {}});
  const auto tag = graph.make<after::Tag>({.text = "t", .on = c});
  graph->name = "a";
  graph->next = b;
  graph->tags = {tag};
  b->next = c;
  b->parts = {{.size = 9, .whole = c}};
  return graph;
}

Graph<before::Node> read_by_old() {
  auto graph = mf::from_bytes<Graph<before::Node>>(mf::to_bytes(new_graph()));
  EXPECT_TRUE(graph) << graph.error().message();
  return *graph;
}

/// What the new reader gets from the old writer.
Graph<after::Node> sent_on(const Graph<before::Node>& graph) {
  const ByteVector bytes = mf::to_bytes(graph);
  auto read = mf::from_bytes<Graph<after::Node>>(bytes);
  EXPECT_TRUE(read) << read.error().message() << to_hex(bytes);
  return *read;
}

TEST(GraphEvolution, AnOldProgramSendsOnWhatItHasRead) {
  const Graph<before::Node> graph = read_by_old();
  EXPECT_TRUE(sent_on(graph) == new_graph());
  // Unknown fields lie behind the known ones, and are the same bytes if those have higher numbers.
  const ByteVector once = mf::to_bytes(graph);
  EXPECT_EQ(to_hex(mf::to_bytes(*mf::from_bytes<Graph<before::Node>>(once))), to_hex(once));
  EXPECT_EQ(once.size(), mf::to_bytes(new_graph()).size());
}

TEST(GraphEvolution, TextAndNewObjectsBehindMoveNothing) {
  Graph<before::Node> graph = read_by_old();
  graph->name = "another";
  graph->next->parts.at(0).size = 10;
  graph->next->next->next = graph.make<before::Node>({.name = "d"});
  const Graph<before::Node> copy = graph;
  EXPECT_TRUE(copy == graph);
  for (const Graph<before::Node>* each : {&std::as_const(graph), &copy}) {
    const auto read = sent_on(*each);
    const auto c = read->next->next;
    EXPECT_EQ(read->name, "another");
    EXPECT_EQ(c->friend_, read->next);
    EXPECT_EQ(c->next->name, "d");
    EXPECT_EQ(read->next->parts.at(0).whole, c);
    EXPECT_EQ(read->next->parts.at(0).size, 10U);
    ASSERT_EQ(read->tags.size(), 1U);
    EXPECT_EQ(read->tags[0]->on, c);
  }
}

TEST(GraphEvolution, WhereObjectsMoveNothingUnknownIsSent) {
  Graph<before::Node> graph = read_by_old();
  const auto b = graph->next;
  graph->next = b->next;  // c is before b now
  b->next = nullptr;
  graph->next->next = b;
  const Graph<before::Node> copy = graph;
  const Graph<before::Node> moved = std::move(graph);
  EXPECT_TRUE(copy == moved);
  for (const Graph<before::Node>* each : {&moved, &copy}) {
    const auto read = sent_on(*each);
    EXPECT_EQ(read->name, "a");
    EXPECT_TRUE(read->tags.empty());
    EXPECT_EQ(read->next->name, "c");
    EXPECT_FALSE(read->next->friend_);
    EXPECT_EQ(read->next->next->name, "b");
    EXPECT_EQ(read->next->next->parts.at(0).size, 9U);
    EXPECT_FALSE(read->next->next->parts.at(0).whole);
    Graph<after::Node> same;
    same->name = "a";
    same->next = same.make<after::Node>({.name = "c", .parts = {}});
    same->next->next = same.make<after::Node>({.name = "b", .parts = {after::Part{.size = 9}}});
    EXPECT_TRUE(read == same);
  }
}

TEST(GraphEvolution, ACopyOfMovedObjectsStaysWithoutWhatIsUnknown) {
  Graph<before::Node> graph = read_by_old();
  const auto b = graph->next;
  graph->next = b->next;
  const Graph<before::Node> copy = graph;
  graph->next = b;  // the original is in order again; the copy's numbers are its own
  EXPECT_TRUE(sent_on(graph) == new_graph());
  EXPECT_FALSE(sent_on(copy)->next->friend_);
}

TEST(GraphEvolution, AGraphThatWasNeverReadSendsNothingUnknown) {
  const Graph<before::Node> graph = read_by_old();
  const Graph<before::Node> made(graph.root());  // the same objects, and unknown fields with them
  EXPECT_FALSE(made->unknown_fields.empty());
  for (const Graph<before::Node>& each : {made, Graph<before::Node>(made)}) {
    const auto read = sent_on(each);
    EXPECT_TRUE(read->tags.empty());
    EXPECT_EQ(read->next->parts.at(0).size, 9U);
    EXPECT_FALSE(read->next->parts.at(0).whole);
    EXPECT_FALSE(read->next->next->friend_);
  }
  EXPECT_TRUE(sent_on(graph) == new_graph());
}

TEST(GraphEvolution, WhatOneGraphKeepsIsNotSentByAnother) {
  const Graph<before::Node> from = read_by_old();
  Graph<before::Node> to = read_by_old();
  EXPECT_FALSE(from->next->parts.at(0).unknown_fields.empty());
  to->next->parts.push_back(from->next->parts.at(0));
  to->next->parts.push_back(before::Part{.size = 3, .unknown_fields = {.bytes = from_hex("c8 3e 01")}});
  const auto read = sent_on(to);
  EXPECT_EQ(read->next->parts.at(0).whole, read->next->next) << "its own";
  EXPECT_EQ(read->next->parts.at(1).size, 9U);
  EXPECT_FALSE(read->next->parts.at(1).whole);
  EXPECT_EQ(to_hex(read->next->parts.at(2).unknown_fields.bytes), "c8 3e 01") << "of no graph";
  EXPECT_EQ(to_hex(mf::to_bytes(from->next->parts.at(0))), to_hex(mf::to_bytes(before::Part{.size = 9})));
}

TEST(GraphEvolution, AnObjectThatNothingRefersToAnyMoreKeepsItsPlace) {
  Graph<before::Node> graph = read_by_old();
  graph->next->next = nullptr;  // c is the last of its table with or without it
  const auto read = sent_on(graph);
  EXPECT_FALSE(read->next->next);
  EXPECT_EQ(read->next->parts.at(0).whole->name, "c");
  graph->next = nullptr;
  EXPECT_EQ(sent_on(graph)->tags.at(0)->on->friend_->name, "b");
}

}  // namespace
}  // namespace mf::codec
