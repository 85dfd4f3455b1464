// Values of random schemas on the short way from febird, into archives too (codec/described/steps.hpp), and
// by the walk alone: both give the same bytes, take as much out of the budget, and refuse the same values in
// the same words.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mf/codec/described/json.hpp"
#include "mf/codec/described/transcode.hpp"
#include "mf/evolution/plan.hpp"

namespace mf::evolution {
namespace {

using described::Kind;
using described::Schema;
using described::Type;
using described::TypeIndex;
using Bytes = std::vector<std::byte>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  /// Less than `end`.
  std::size_t below(std::size_t end) { return engine_() % end; }
  bool one_in(std::size_t many) { return below(many) == 0; }
  std::uint64_t bits() { return std::uint64_t{engine_()} << 32U | engine_(); }

 private:
  std::mt19937 engine_;
};

// --- schemas: one, and what becomes of it

struct Field {
  std::string name;
  std::string type;
};
struct Struct {
  std::string tier;
  std::vector<Field> fields;
};

constexpr std::size_t kStructs = 4;

std::string structure(std::size_t index) {
  return "r.S" + std::to_string(index);
}

std::string scalar(Random& random) {
  static constexpr std::array kScalars{"bool",     "u8",   "u16",    "u32",   "u64",    "i8",
                                       "i16",      "i32",  "i64",    "f32",   "f64",    "timestamp",
                                       "duration", "uuid", "string", "bytes", "r.Open", "r.Closed"};
  return kScalars[random.below(kScalars.size())];
}

/// Structs hold those behind them by value, and all by way of lists and optionals.
std::string expression(Random& random, std::size_t owner, unsigned depth) {
  const auto inside = [&] { return expression(random, owner, depth + 1); };
  if (depth > 2) return scalar(random);
  switch (random.below(12)) {
    case 0:
      return random.one_in(4) ? "list<u32?>" : "list<" + scalar(random) + ">";
    case 1:
      return "list<" + inside() + ">";
    case 2:
      return "array<" + inside() + "," + std::to_string(1 + random.below(4)) + ">";
    case 3: {
      std::string type = inside();
      return type.ends_with('?') ? type : type + "?";
    }
    case 4:
      return "map<string," + inside() + ">";
    case 5:
      return random.one_in(2) ? "set<u32>" : random.one_in(2) ? "map<u16,i32>" : "map<u8," + inside() + ">";
    case 6:
      return owner + 1 < kStructs ? structure(owner + 1 + random.below(kStructs - owner - 1)) : "r.Fixed";
    case 7:
      return random.one_in(3) ? "list<" + structure(random.below(kStructs)) + ">" : "list<r.Fixed>";
    case 8:
      return random.one_in(2) ? "r.Choice" : "r.Archived";
    default:
      return scalar(random);
  }
}

/// A type that values of this one can become; more often than not itself.
std::string later(Random& random, const std::string& type) {
  const auto within = [&](std::string_view word) {
    const std::size_t open = word.size() + 1;
    return std::string(word) + "<" + later(random, type.substr(open, type.size() - open - 1)) + ">";
  };
  if (type.ends_with('?')) {
    const std::string held = later(random, type.substr(0, type.size() - 1));
    return random.one_in(6) || held.ends_with('?') ? held : held + "?";
  }
  if (type.starts_with("list<")) return within("list");
  if (type.starts_with("array<")) {
    const std::size_t comma = type.rfind(',');
    return "array<" + later(random, type.substr(6, comma - 6)) + type.substr(comma);
  }
  if (random.one_in(8)) return type + "?";
  const auto one_of = [&](std::initializer_list<std::string_view> several) {
    return std::string(several.begin()[random.below(several.size())]);
  };
  if (random.one_in(2)) return type;
  if (type == "f32") return "f64";
  if (type == "string" || type == "bytes") return one_of({"string", "bytes"});
  if (type.size() <= 3 && type.starts_with("u")) return one_of({"u8", "u16", "u32", "u64"});
  if (type.size() <= 3 && type.starts_with("i")) return one_of({"i8", "i16", "i32", "i64"});
  return type;
}

using Structs = std::array<Struct, kStructs>;

Structs structs(Random& random) {
  Structs made;
  for (std::size_t i = 0; i < kStructs; ++i) {
    made[i].tier = "febird";
    for (std::size_t at = 0, count = random.below(7); at < count; ++at)
      made[i].fields.push_back({"f" + std::to_string(at), expression(random, i, 0)});
  }
  return made;
}

Structs later(Random& random, const Structs& before) {
  Structs made = before;
  for (auto& each : made) {
    std::erase_if(each.fields, [&](const Field&) { return random.one_in(8); });
    for (auto& field : each.fields) field.type = later(random, field.type);
    if (random.one_in(3)) each.fields.push_back({"added", random.one_in(2) ? "list<u32>" : "string?"});
    if (random.one_in(3)) each.fields.insert(each.fields.begin(), {"begun", "u8?"});
    if (random.one_in(3))
      std::ranges::shuffle(each.fields, std::mt19937(static_cast<unsigned>(random.bits())));
    if (random.one_in(4)) each.tier = "archive";
  }
  return made;
}

std::shared_ptr<const Schema> schema(const Structs& structs, bool is_later) {
  std::string text =
      "value r.S0\n"
      "type r.Archived struct archive\n a 1: u32\n b 2: string?\n" +
      std::string(is_later ? " c 3: u8?\n" : "") +
      "type r.Choice union febird\n x 1: u32\n y 2: list<string>\n" + (is_later ? " z 3: u8\n" : "") +
      "type r.Closed enum u8 closed\n a 0\n b 1\n c 5\n" +
      "type r.Fixed struct memcpy\n a u32\n b u16\n c u16\n" + (is_later ? " d u64?\n" : "") +
      "type r.Open enum u16 open\n a 0\n" + (is_later ? "" : " b 300\n");
  if (is_later) text.replace(text.find("struct memcpy"), 13, "struct febird");
  for (std::size_t i = 0; i < kStructs; ++i) {
    text += "type " + structure(i) + " struct " + structs[i].tier + "\n";
    int number = 0;
    for (const auto& field : structs[i].fields) {
      const std::string at = structs[i].tier == "archive" ? std::to_string(++number) + ": " : "";
      text += " " + field.name + " " + at + field.type + "\n";
    }
  }
  auto read = Schema::read(text);
  if (!read) throw std::runtime_error(read.error().message() + "\n" + text);
  return std::make_shared<const Schema>(*std::move(read));
}

// --- values in febird

class Values {
 public:
  Values(const Schema& schema, Random& random) : schema_(schema), random_(random) {}

  Bytes make() {
    bytes_.clear();
    depth_ = 0;
    value(schema_.value());
    return bytes_;
  }

 private:
  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) bytes_.push_back(static_cast<std::byte>(number | 0x80U));
    bytes_.push_back(static_cast<std::byte>(number));
  }
  void fixed(std::uint64_t bits, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  void text(std::string_view text) {
    varint(text.size());
    for (const char letter : text) bytes_.push_back(static_cast<std::byte>(letter));
  }
  std::size_t count() {
    if (depth_ > 4) return 0;
    return random_.one_in(30) ? 250 + random_.below(300) : random_.below(5);
  }
  /// Small more often than not.
  std::uint64_t number(std::size_t size) {
    return random_.bits() >> (64 - 8 * (random_.one_in(3) ? size : 1) + random_.below(8));
  }
  static bool is_signed(const Type& type) {
    return (type.kind >= Kind::i8 && type.kind <= Kind::i64) || type.kind == Kind::duration;
  }
  /// The values of a row in the smallest width, in two's complement; sets and maps ascend.
  unsigned code(const std::vector<std::uint64_t>& values, bool signs) {
    for (unsigned code = 0; code < 3; ++code) {
      const unsigned width = 8U << code;
      const auto fits = [&](std::uint64_t each) {
        const auto value = static_cast<std::int64_t>(each);
        return signs ? value >= -(std::int64_t{1} << (width - 1)) && value < std::int64_t{1} << (width - 1)
                     : each >> width == 0;
      };
      if (std::ranges::all_of(values, fits)) return code;
    }
    return 3;
  }
  std::vector<std::uint64_t> numbers(const Type& of, std::size_t count) {
    std::vector<std::uint64_t> made(count);
    const unsigned unused = 64U - 8U * of.size;
    for (auto& each : made) {
      each = of.kind == Kind::enumeration ? random_.below(400) : number(of.size);
      if (is_signed(of))
        each = static_cast<std::uint64_t>(static_cast<std::int64_t>(each << unused) >> unused);
    }
    return made;
  }
  void row(const Type& of, std::size_t count, bool head) {
    const auto values = numbers(of, count);
    const std::size_t blocks = (count + 255) / 256;
    Bytes codes((blocks + 3) / 4 + 1);
    std::vector<unsigned> of_blocks;
    for (std::size_t block = 0; block < blocks; ++block) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(256 * block);
      const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, 256 * (block + 1)));
      of_blocks.push_back(code({begin, end}, is_signed(of)));
    }
    if (head) varint(count * 4 + (count == 0 ? 0 : of_blocks[0]));
    const std::size_t first = head ? 1 : 0;
    for (std::size_t block = first; block < blocks; ++block)
      codes[(block - first) / 4] |= static_cast<std::byte>(of_blocks[block] << ((block - first) % 4 * 2));
    if (blocks > first)
      bytes_.insert(bytes_.end(), codes.begin(),
                    codes.begin() + static_cast<std::ptrdiff_t>((blocks - first + 3) / 4));
    for (std::size_t i = 0; i < count; ++i) fixed(values[i], std::size_t{1} << of_blocks[i / 256]);
  }
  void fields(const Type& type) {
    ++depth_;
    for (const auto& field : schema_.fields(type)) value(field.type);
    --depth_;
  }
  void alone(const Type& type) {
    const std::uint64_t bits = type.kind == Kind::boolean       ? random_.below(2)
                               : type.kind == Kind::enumeration ? (type.open ? random_.below(400) : 5)
                                                                : number(type.size);
    if (type.raw) {
      fixed(bits, type.size);
    } else {
      varint(bits);  // also of what zigzag makes of a signed number
    }
  }
  void value(TypeIndex index) {
    const Type& type = schema_.type(index);
    switch (type.kind) {
      case Kind::uuid:
        fixed(random_.bits(), 8);
        return fixed(random_.bits(), 8);
      case Kind::string:
        return text(random_.one_in(3) ? "größer" : "text");
      case Kind::bytes:
        return text(random_.one_in(5) ? "\xFF" : "bytes");
      case Kind::list:
        if (schema_.type(type.element).row) return row(schema_.type(type.element), count(), true);
        return repeat(count(), type.element);
      case Kind::array:
        if (schema_.type(type.element).row) return row(schema_.type(type.element), type.length, false);
        for (std::size_t i = 0; i < type.length; ++i) value(type.element);
        return;
      case Kind::set:
        varint(2 * 4 + 1);
        fixed(7, 2);
        return fixed(300, 2);
      case Kind::map:
        return map(type);
      case Kind::optional: {
        const bool there = depth_ < 5 && random_.one_in(2);
        fixed(there ? 1 : 0, 1);
        if (there) value(type.element);
        return;
      }
      case Kind::structure:
        if (type.tier != Tier::archive) return fields(type);
        fixed(5, 1);
        return fixed(0x61'01'12'06'08, 5);  // a: 6, b: "a"
      case Kind::alternatives:
        varint(1 + random_.below(type.count));
        return value(schema_.fields(type)[std::to_integer<std::size_t>(bytes_.back()) - 1].type);
      default:
        return alone(type);
    }
  }
  void repeat(std::size_t count, TypeIndex element) {
    varint(count);
    ++depth_;
    for (; count != 0; --count) value(element);
    --depth_;
  }
  void map(const Type& type) {
    const Type& key = schema_.type(type.key);
    if (key.kind == Kind::u16) {  // to i32, in one block
      varint(1);
      return fixed(0x07'07'00, 3);
    }
    ++depth_;
    varint(2);
    for (const char letter : {'a', 'b'}) {
      if (key.kind == Kind::string) {
        text(std::string_view(&letter, 1));
      } else {
        fixed(static_cast<unsigned char>(letter), 1);
      }
      value(type.element);
    }
    --depth_;
  }

  const Schema& schema_;
  Random& random_;
  Bytes bytes_;
  unsigned depth_ = 0;
};

// --- both ways

struct Ran {
  described::Went went{};
  Bytes out;
  std::size_t offset = 0;
  std::size_t budget = 0;
  std::string error;
};

Ran run(const described::Program& program, described::PairIndex way, const Bytes& bytes,
        const codec::Limits& limits) {
  described::Transcoder transcoder(program);
  codec::Reader reader(bytes, limits);
  Buffer out;
  out.append(std::array{std::byte{42}});
  Ran ran;
  ran.went = transcoder.run(way, reader, out);
  ran.out.assign(out.span().begin(), out.span().end());
  ran.offset = reader.offset();
  if (ran.went == described::Went::over) {
    ran.budget = reader.limits_left().decoded_bytes;
  } else {
    ran.error = transcoder.error().message();
  }
  return ran;
}

/// Rows may be wider than they must be: then bytes differ, and values do not.
bool same_bytes_or_value(const Schema& schema, const Bytes& left, const Bytes& right) {
  if (left == right) return true;
  const auto read = [&](const Bytes& bytes) {
    return described::to_json(schema, schema.value(), std::span(bytes).subspan(1));
  };
  const auto one = read(left);
  const auto other = read(right);
  return one && other && *one == *other;
}

Bytes changed(Random& random, Bytes bytes) {
  if (bytes.empty()) return bytes;
  for (std::size_t changes = 1 + random.below(2); changes != 0; --changes) {
    static constexpr std::array<unsigned, 8> kLikely{0, 1, 2, 4, 0x10, 0x7F, 0x80, 0xFF};
    bytes[random.below(bytes.size())] = static_cast<std::byte>(kLikely[random.below(kLikely.size())]);
  }
  if (random.one_in(4)) bytes.resize(random.below(bytes.size() + 1));
  return bytes;
}

/// What became of values, and how many programs had a short way.
struct Seen {
  std::size_t over = 0;
  std::size_t not_over = 0;
  std::size_t broken = 0;
  std::size_t short_ways = 0;
};

codec::Limits limits(Random& random, std::size_t size) {
  codec::Limits limits;
  if (random.one_in(6)) limits.depth = static_cast<unsigned>(random.below(6));
  if (random.one_in(6)) limits.decoded_bytes = random.below(4 * size + 10);
  return limits;
}

void compare(Random& random, const std::shared_ptr<const Schema>& from,
             const std::shared_ptr<const Schema>& to, const std::string& which, Seen& seen) {
  const Plan plan = make_plan(to, from);
  if (plan.value == described::kNone) return;
  described::Program walked = plan.results;
  walked.steps = nullptr;
  seen.short_ways += plan.results.steps != nullptr ? 1 : 0;
  Values values(*from, random);
  for (int round = 0; round < 20; ++round) {
    Bytes bytes = values.make();
    if (round % 2 == 1) bytes = changed(random, std::move(bytes));
    const codec::Limits limit = limits(random, bytes.size());
    const Ran quick = run(plan.results, plan.value, bytes, limit);
    const Ran slow = run(walked, plan.value, bytes, limit);
    const std::string where = which + ", round " + std::to_string(round);
    ASSERT_EQ(static_cast<int>(quick.went), static_cast<int>(slow.went)) << where << slow.error;
    ASSERT_EQ(quick.error, slow.error) << where;
    ASSERT_EQ(quick.offset, slow.offset) << where;
    ASSERT_EQ(quick.budget, slow.budget) << where;
    ASSERT_TRUE(same_bytes_or_value(*to, quick.out, slow.out)) << where;
    (slow.went == described::Went::over     ? seen.over
     : slow.went == described::Went::broken ? seen.broken
                                            : seen.not_over) += 1;
  }
}

TEST(ValuesOfRandomSchemas, GoOverOnTheShortWayAsByTheWalk) {
  Seen seen;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Random random(seed);
    const Structs before = structs(random);
    const auto older = schema(before, false);
    const auto newer = schema(later(random, before), true);
    const std::string which = "seed " + std::to_string(seed);
    ASSERT_NO_FATAL_FAILURE(compare(random, older, newer, which, seen));
    ASSERT_NO_FATAL_FAILURE(compare(random, newer, older, which + ", back", seen));
  }
  EXPECT_GT(seen.over, 800U);
  EXPECT_GT(seen.not_over, 60U);
  EXPECT_GT(seen.broken, 200U);
  EXPECT_GT(seen.short_ways, 60U);
}

}  // namespace
}  // namespace mf::evolution
