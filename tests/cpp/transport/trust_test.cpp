// Which unix sockets are trusted although another process has named their paths; the same as
// tests/python/transport/test_trust.py.
#include "mf/transport/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "mf/transport/socket.hpp"
#include "support/connect.hpp"

namespace mf::transport {
namespace {

using mftest::connect;

namespace fs = std::filesystem;

constexpr uid_t kOther = 54'321;

class TrustTest : public testing::Test {
 protected:
  TrustTest() {
    std::string name = (fs::temp_directory_path() / "mf-trust-XXXXXX").string();
    above_ = ::mkdtemp(name.data());
    folder_ = above_ / "folder";
    fs::create_directory(folder_);
    ::chmod(folder_.c_str(), 0755);
    listener_.emplace(address());
  }
  ~TrustTest() override {
    listener_.reset();
    fs::remove_all(above_);
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files to other users";
  }

  [[nodiscard]] std::string path() const { return (folder_ / "s").string(); }
  [[nodiscard]] Address address() const { return Address::parse("unix:" + path()); }

  fs::path above_;
  fs::path folder_;
  std::optional<Listener> listener_;
};

TEST_F(TrustTest, TrustsASocketOfTheUserInAFolderOfTheUser) {
  EXPECT_EQ(Trust().refusal(address()), "");
  const auto stream = connect(address(), std::chrono::seconds(5));
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(Trust().refusal(*stream.value()), "");
}

TEST_F(TrustTest, TrustsASocketOfAnotherUserOnlyIfThatUserIsNamed) {
  ASSERT_EQ(::chown(path().c_str(), kOther, kOther), 0);
  EXPECT_EQ(Trust().refusal(address()), path() + " belongs to user 54321");
  EXPECT_EQ(Trust({kOther}).refusal(address()), "");
}

TEST_F(TrustTest, TrustsNothingInAFolderThatOthersMayWriteTo) {
  for (const mode_t mode : {0777U, 0775U}) {
    ::chmod(folder_.c_str(), mode);
    EXPECT_EQ(Trust().refusal(address()), "other users may write to " + folder_.string());
  }
}

TEST_F(TrustTest, TrustsASocketOfTheUserInAFolderWithTheStickyBit) {
  ::chmod(folder_.c_str(), 01777);
  EXPECT_EQ(Trust().refusal(address()), "");
}

TEST_F(TrustTest, TrustsNothingBelowAFolderOfAnotherUser) {
  ASSERT_EQ(::chown(above_.c_str(), kOther, kOther), 0);
  EXPECT_EQ(Trust().refusal(address()), above_.string() + " belongs to user 54321");
}

}  // namespace
}  // namespace mf::transport
