// What writers of files of values leave behind, and what readers and other writers make of it.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "values/stored_values.hpp"

namespace mf::values {
namespace {

using stored::Point;

Point point(std::uint16_t x) {
  Point made;
  made.x = x;
  return made;
}

void write_points(const std::filesystem::path& path, std::initializer_list<std::uint16_t> xs,
                  const ValueWriterOptions& options = {}) {
  ValueWriter<Point> out(path, options);
  for (const auto x : xs) out.write(point(x));
  out.close();
}

std::vector<unsigned> xs_in(const std::filesystem::path& path) {
  std::vector<unsigned> xs;
  ValueReader<Point> reader(path);
  while (auto value = reader.next()) xs.push_back(value->value().x);
  return xs;
}

template <class Do>
std::string refusal(const Do& act) {
  try {
    act();
  } catch (const Error& error) {
    return told(error);
  }
  return "nothing was refused";
}

void cut_by(const std::filesystem::path& path, std::uintmax_t bytes) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - bytes);
}

TEST(ValueFile, GivesManyValuesInTheirOrderAndCountsThem) {
  const Folder folder;
  {
    ValueWriter<Point> out(folder / "points");
    for (std::uint16_t x = 0; x < 30'000; ++x) out.write(point(x));
    EXPECT_EQ(out.count(), 30'000U);
  }
  ValueReader<Point> reader(folder / "points");
  unsigned expected = 0;
  while (auto value = reader.next()) ASSERT_EQ(value->value().x, expected++);
  EXPECT_EQ(expected, 30'000U);
  EXPECT_EQ(reader.number(), 30'000U);
  EXPECT_EQ(reader.offset(), std::filesystem::file_size(folder / "points"));
  EXPECT_FALSE(reader.is_cut());
}

TEST(ValueFile, IsAppendedToWhereThatIsAskedFor) {
  const Folder folder;
  write_points(folder / "points", {1}, {.append = true});
  write_points(folder / "points", {2, 3}, {.append = true});
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{1U, 2U, 3U}));
  EXPECT_EQ(
      refusal([&] { write_points(folder / "points", {4}); }),
      "UNAVAILABLE: " + (folder / "points").string() + ": exists already; values can be appended to it");
}

TEST(ValueFile, OfAnotherSchemaOrTypeIsNotAppendedTo) {
  const Folder folder;
  ValueWriter<stored::Missing>(folder / "missing").close();
  EXPECT_EQ(refusal([&] { write_points(folder / "missing", {1}, {.append = true}); }),
            "SCHEMA_MISMATCH: " + (folder / "missing").string() + ": has another schema: migrate it first");
  EXPECT_EQ(refusal([&] { xs_in(folder / "missing"); }),
            "SCHEMA_MISMATCH: " + (folder / "missing").string() +
                ": a file of stored.Missing, not of stored.Point");
}

TEST(ValueFile, HasOneWriter) {
  const Folder folder;
  ValueWriter<Point> first(folder / "points");
  EXPECT_EQ(refusal([&] { write_points(folder / "points", {2}, {.append = true}); }),
            "UNAVAILABLE: " + (folder / "points").string() + ": has another writer");
  first.write(point(1));
  first.close();
  write_points(folder / "points", {2}, {.append = true});
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{1U, 2U}));
}

TEST(ValueFile, ThatIsCutOffTellsWhereBehindItsWholeValues) {
  const Folder folder;
  write_points(folder / "points", {1, 2});
  cut_by(folder / "points", 1);
  ValueReader<Point> reader(folder / "points");
  EXPECT_EQ(reader.next()->value().x, 1U);
  const auto offset = reader.offset();
  const auto cut = reader.next();
  EXPECT_EQ(told(cut->failure()), "DECODE_ERROR: " + (folder / "points").string() + ": cut off at byte " +
                                      std::to_string(std::filesystem::file_size(folder / "points")) +
                                      ": the value that begins at byte " + std::to_string(offset) +
                                      " is not whole; values before it: 1");
  EXPECT_TRUE(reader.is_cut());
  EXPECT_FALSE(reader.next().has_value());
}

TEST(ValueFile, LosesACutEndOnlyWhereThatIsAskedFor) {
  const Folder folder;
  write_points(folder / "points", {1, 2});
  cut_by(folder / "points", 1);
  EXPECT_NE(refusal([&] { write_points(folder / "points", {3}, {.append = true}); }).find("cut off"),
            std::string::npos);
  write_points(folder / "points", {3}, {.append = true, .drop_cut = true});
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{1U, 3U}));
  std::filesystem::resize_file(folder / "points", 40);  // within its head
  write_points(folder / "points", {4}, {.append = true, .drop_cut = true});
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{4U}));
}

/// The file with zeros in the place of its last bytes and behind them, up to so many.
void leave_zeros(const std::filesystem::path& path, std::uintmax_t last, std::uintmax_t size) {
  cut_by(path, last);
  std::filesystem::resize_file(path, size);
}

TEST(ValueFile, LosesZerosInThePlaceOfItsEndAsACutOne) {
  const Folder folder;
  write_points(folder / "points", {1, 2});
  const auto whole = std::filesystem::file_size(folder / "points");
  leave_zeros(folder / "points", 10, std::uintmax_t{4} << 20U);
  {
    ValueReader<Point> reader(folder / "points");
    EXPECT_EQ(reader.next()->value().x, 1U);
    EXPECT_NE(told(reader.next()->failure()).find(", where zeros begin: "), std::string::npos);
    EXPECT_TRUE(reader.is_cut());
    EXPECT_FALSE(reader.next().has_value());
  }
  EXPECT_NE(refusal([&] { write_points(folder / "points", {3}, {.append = true}); }).find("cut off"),
            std::string::npos);
  write_points(folder / "points", {3}, {.append = true, .drop_cut = true});
  EXPECT_EQ(std::filesystem::file_size(folder / "points"), whole);
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{1U, 3U}));
  leave_zeros(folder / "points", whole, 5'000);
  write_points(folder / "points", {4}, {.append = true, .drop_cut = true});
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{4U}));
}

TEST(ValueFile, KeepsZerosWithSomethingBehindThem) {
  const Folder folder;
  write_points(folder / "points", {1, 2});
  leave_zeros(folder / "points", 10, std::uintmax_t{4} << 20U);
  std::ofstream(folder / "points", std::ios::app) << '!';
  EXPECT_NE(refusal([&] {
              write_points(folder / "points", {3}, {.append = true, .drop_cut = true});
            }).find("damaged at byte"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(folder / "points"), (std::uintmax_t{4} << 20U) + 1);
}

TEST(ValueFile, ThatTheSystemDoesNotGiveIsToldInWords) {
  const Folder folder;
  EXPECT_EQ(refusal([&] { xs_in(folder / "nothing"); }),
            "UNAVAILABLE: " + (folder / "nothing").string() + ": No such file or directory");
  ValueReader<Point> broken(
      [given = false, head =
                          [&] {
                            write_points(folder / "points", {});
                            return contents(folder / "points");
                          }()](std::span<std::byte> into) mutable -> std::ptrdiff_t {
        if (given) return -EIO;
        given = true;
        std::ranges::copy(head, into.begin());
        return std::ssize(head);
      },
      "FILE");
  EXPECT_EQ(told(broken.next()->failure()), "UNAVAILABLE: FILE: Input/output error");
  EXPECT_FALSE(broken.next().has_value());
}

/// Files may not grow beyond so many bytes meanwhile.
class Limit {
 public:
  explicit Limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = nullptr;
};

TEST(ValueFile, StaysWholeWhenTheDiskIsFull) {
  const Folder folder;
  ValueWriter<Point> out(folder / "points");
  out.write(point(0));
  out.flush();
  {
    const Limit limit(std::filesystem::file_size(folder / "points") + 1'000);
    for (std::uint16_t x = 1; x < 200; ++x) out.write(point(x));
    EXPECT_EQ(refusal([&] { out.flush(); }), "UNAVAILABLE: " + (folder / "points").string() +
                                                 ": File too large; values in the file: 1, lost: 199");
    EXPECT_EQ(xs_in(folder / "points"), (std::vector{0U}));
  }
  out.write(point(200));
  out.close();
  EXPECT_EQ(xs_in(folder / "points"), (std::vector{0U, 200U}));
}

}  // namespace
}  // namespace mf::values
