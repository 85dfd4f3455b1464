// Values of declared types from senders that have another version of the type: to<T>() adapts, from what the
// sender has said of its own version.
#include <gtest/gtest.h>

#include "flex/described.hpp"
#include "flex/in_one_node.hpp"
#include "mf/codec/flex/attributes.hpp"
#include "mf/link/adaptation.hpp"
#include "stored.hpp"

namespace mf::flex {
namespace {

using mftest::kLong;
using mftest::kQuiet;
using mftest::refusal_of;
using stored::Point;

// As tests/vectors/values/old.mfidl has it; this program has new.mfidl.
const TypeTexts kOld{.descriptor =
                         "value stored.Point\n"
                         "type stored.Point struct memcpy\n"
                         " x u32\n"
                         " y i16\n"
                         " rank stored.Rank\n"
                         "type stored.Rank enum u8 closed\n"
                         " plain 0\n"
                         " good 1\n"
                         " best 2\n",
                     .annex = "annex stored.Point\n"};

/// A sender of that version, as its receiver sees it.
class Older {
 public:
  explicit Older(TypeTexts texts = kOld)
      : texts_(std::move(texts)), fingerprint_(link::fingerprint_of(texts_.descriptor)) {
    told_.add(fingerprint_, texts_);
  }

  [[nodiscard]] Typed point(std::uint32_t x) const {
    std::vector<std::byte> bytes(8);
    std::memcpy(bytes.data(), &x, sizeof x);
    bytes[4] = std::byte{5};  // y
    bytes[6] = std::byte{1};  // good
    return {"stored.Point", fingerprint_, Bytes(std::move(bytes)), told_.types().at(fingerprint_)};
  }
  [[nodiscard]] const Told& told() const noexcept { return told_; }

 private:
  TypeTexts texts_;
  Fingerprint fingerprint_;
  Told told_;
};

/// As it comes.
Typed received(const Older& sender, const Typed& sent) {
  const auto written = encode_with_types({{"value", sent}});
  return decode_attributes(written.bytes, {}, &sender.told().types()).value().find("value")->get<Typed>();
}

TEST(FlexVersions, AreReadAsTheOneThatIsAskedFor) {
  const Older sender;
  const auto typed = received(sender, sender.point(7));
  EXPECT_TRUE(typed.is<Point>());
  const auto point = typed.to<Point>();
  EXPECT_EQ(point.x, 7U);
  EXPECT_EQ(point.y, 5);
  EXPECT_EQ(point.rank, stored::Rank::good);
  EXPECT_EQ(point.weight, 1.5);
}

TEST(FlexVersions, SayWhyAValueDoesNotGoOver) {
  const Older sender;
  const auto typed = received(sender, sender.point(70'000));
  EXPECT_EQ(
      refusal_of([&] { (void)typed.to<Point>(); }),
      "DECODE_ERROR: a value of another version of stored.Point: x: 70000 does not fit u16 of the reader's "
      "schema (not executed)");
}

TEST(FlexVersions, SayWhyNoRuleLeadsFromThem) {
  auto texts = kOld;
  texts.descriptor.replace(texts.descriptor.find("x u32"), 5, "x f32");
  const Older sender(texts);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_EQ(
        refusal_of([&] { (void)received(sender, sender.point(7)).to<Point>(); }),
        "SCHEMA_MISMATCH: a value of another version of stored.Point: Point: field Point.x: u16 here, f32 "
        "there");
}

TEST(FlexVersions, ThatNobodyDescribesAreNotRead) {
  const Older sender;
  const auto sent = sender.point(7);
  const Typed plain(sent.name(), sent.fingerprint(), sent.data());
  EXPECT_EQ(refusal_of([&] { (void)plain.to<Point>(); }),
            "SCHEMA_MISMATCH: the value is of stored.Point, of another version of that type (not executed)");
  EXPECT_EQ(refusal_of([&] { (void)sent.to<stored::Missing>(); }),
            "SCHEMA_MISMATCH: the value is of stored.Point, not of stored.Missing (not executed)");
}

TEST(FlexVersions, WhoseDescriptionIsNoneAreRefused) {
  const Older sender({.descriptor = "value stored.Point\nnonsense\n", .annex = ""});
  EXPECT_NE(refusal_of([&] {
              (void)sender.point(7).to<Point>();
            }).find("what it says of its schema cannot be read"),
            std::string::npos);
}

TEST(FlexVersions, TravelWithWhatIsSaidOfThemAndAreMatchedByTheNameOfTheirType) {
  const Older sender;
  Node far("", kQuiet);
  Node near(far.address(), kQuiet);
  auto b = far.process("B");
  auto a = near.process("A");
  for (std::uint32_t x = 1; x <= 3; ++x) a.send({{"dest", "B"}, {"value", sender.point(x)}});
  a.send({{"dest", "B"}, {"value", Point{}}});
  for (unsigned x = 1; x <= 3; ++x)
    EXPECT_EQ(b.recv(kLong, {{"value", of<Point>()}})["value"].to<Point>().x, x);
  EXPECT_EQ(b.recv(kLong, {{"value", of<Point>()}})["value"].to<Point>(), Point{});
}

TEST(FlexVersions, ArePassedOnByWhoDoesNotKnowThem) {
  const Older sender;
  const auto typed = received(sender, sender.point(7));
  const auto written = encode_with_types({{"a", typed}, {"b", List{typed, typed}}});
  ASSERT_EQ(written.types.size(), 1U);
  EXPECT_EQ(written.types[0].first, typed.fingerprint());
  EXPECT_EQ(written.types[0].second->descriptor, kOld.descriptor);
}

TEST(FlexVersions, OfOneSenderAreKeptUpToABound) {
  Told many;
  std::size_t kept = 0;
  for (std::size_t n = 0; n < Told::kMostTypes + 9; ++n)
    kept += many.add({static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(n >> 8U)},
                     {.descriptor = "value a.B\n", .annex = ""});
  EXPECT_EQ(kept, Told::kMostTypes);
  Told large;
  kept = 0;
  for (std::uint8_t n = 0; n < 9; ++n)
    kept += large.add({n}, {.descriptor = std::string(std::size_t{1} << 20U, 'x'), .annex = ""});
  EXPECT_EQ(kept, 4U);
}

}  // namespace
}  // namespace mf::flex
