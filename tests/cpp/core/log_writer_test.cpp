// Lines of a log on standard error: a pipe that is not read, a target that is full, one that has gone.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "mf/core/log_output.hpp"
#include "support/folder.hpp"
#include "support/forked.hpp"

namespace mf {
namespace {

using testing::HasSubstr;

/// Standard error is this descriptor, which it owns, during the object's lifetime.
class StandardErrorAt {
 public:
  explicit StandardErrorAt(int descriptor) : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    EXPECT_GE(descriptor, 0);
    ::dup2(descriptor, STDERR_FILENO);
    ::close(descriptor);
  }
  StandardErrorAt(const StandardErrorAt&) = delete;
  StandardErrorAt& operator=(const StandardErrorAt&) = delete;
  ~StandardErrorAt() {
    EXPECT_TRUE(flush_standard_error_log());
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  [[nodiscard]] int reader() const { return ends[0]; }
  [[nodiscard]] int writer() const { return ends[1]; }

  std::array<int, 2> ends{};
};

/// Reads until the text ends with a line that has this word.
std::string read_until(int descriptor, const std::string& word) {
  std::string all;
  std::array<char, 65536> part{};
  for (ssize_t n = 0; (n = ::read(descriptor, part.data(), part.size())) > 0;) {
    all.append(part.data(), static_cast<std::size_t>(n));
    const auto last = all.rfind('\n', all.size() - 2);
    if (all.back() == '\n' && all.find(word, last == std::string::npos ? 0 : last) != std::string::npos)
      break;
  }
  return all;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// What `lines_left_out` of this text count.
std::size_t left_out(const std::string& text) {
  const std::string words = " warning lines_left_out count=";
  std::size_t all = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    all += std::stoul(text.substr(at + words.size()));
  return all;
}

int opened(const std::string& path) {
  return ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

TEST(LogWriter, KeepsLinesForAPipeThatIsNotReadAndCountsFurtherOnes) {
  const Pipe pipe;
  const StandardErrorAt standard_error(pipe.writer());
  const Log log;
  const std::string filler(200, 'a');
  for (int i = 0; i != 12'000; ++i) log.write(Level::error, "full", {{"i", i}, {"filler", filler}});
  EXPECT_FALSE(flush_standard_error_log()) << "the pipe is full";

  const auto written = read_until(pipe.reader(), "lines_left_out");
  EXPECT_THAT(written, HasSubstr(" error full i=0 filler="));
  const auto lines = count_of(written, " error full ");
  EXPECT_GE(lines, 10'000U);
  EXPECT_LT(lines, 12'000U);
  EXPECT_EQ(lines + left_out(written), 12'000U);

  log.write(Level::error, "again");
  EXPECT_THAT(read_until(pipe.reader(), "again"), testing::MatchesRegex("20[^\n]* error again\n"));
  ::close(pipe.reader());
}

TEST(LogWriter, LosesNothingAtAPipeThatWouldNotBlock) {
  const Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK), 0);
  const StandardErrorAt standard_error(pipe.writer());
  const Log log;
  const std::string filler(200, 'a');
  for (int i = 0; i != 2'000; ++i) log.write(Level::error, "full", {{"i", i}, {"filler", filler}});
  log.write(Level::error, "last");
  const auto written = read_until(pipe.reader(), "last");
  EXPECT_EQ(count_of(written, " error full "), 2'000U);
  EXPECT_EQ(left_out(written), 0U);
  ::close(pipe.reader());
}

TEST(LogWriter, CountsWhatAFullTargetRefuses) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "log").string();
  const Log log;
  {
    const StandardErrorAt standard_error(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    for (int i = 0; i != 3; ++i) log.write(Level::error, "refused");
  }
  {
    const StandardErrorAt standard_error(opened(path));
    log.write(Level::error, "again");
  }
  EXPECT_THAT(content_of(path),
              testing::MatchesRegex("20[^\n]* warning lines_left_out count=3\n20[^\n]* error again\n"));
}

TEST(LogWriter, LivesOnWhenTheReaderHasGone) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "log").string();
  const Log log;
  {
    const Pipe pipe;
    const StandardErrorAt standard_error(pipe.writer());
    ::close(pipe.reader());
    for (int i = 0; i != 2; ++i) log.write(Level::error, "unread");
  }
  {
    const StandardErrorAt standard_error(opened(path));
    log.write(Level::error, "again");
  }
  EXPECT_THAT(content_of(path), HasSubstr(" warning lines_left_out count=2\n"));
}

TEST(LogWriter, HasAThreadOfItsOwnInAForkedChild) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "log").string();
  {
    const StandardErrorAt standard_error(opened(path));
    const Log log;
    log.write(Level::error, "parent");
    ASSERT_TRUE(flush_standard_error_log());
    EXPECT_TRUE(mftest::holds_in_a_child([&] {
      log.write(Level::error, "child");
      return flush_standard_error_log();
    }));
  }
  EXPECT_THAT(content_of(path), testing::MatchesRegex("20[^\n]* error parent\n20[^\n]* error child\n"));
}

}  // namespace
}  // namespace mf
