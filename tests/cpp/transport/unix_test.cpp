// Unix sockets: paths that are free, taken, left behind, too long, or not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "mf/core/error.hpp"
#include "mf/transport/socket.hpp"
#include "support/connect.hpp"
#include "support/wait.hpp"

namespace mf::transport {
namespace {

using mftest::connect;
using mftest::eventually;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Unix : public testing::Test {
 protected:
  Unix() {
    std::string name = (fs::temp_directory_path() / "mf-unix-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Unix() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path path(const char* name = "s") const { return folder_ / name; }
  [[nodiscard]] Address address(const char* name = "s") const {
    return Address::parse("unix:" + path(name).string());
  }

  fs::path folder_;
};

std::string refusal(const Address& address) {
  try {
    const Listener listener(address);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    return error.message();
  }
  return "";
}

TEST_F(Unix, ConnectsAndNamesWhoIsThere) {
  Listener listener(address());
  auto connected = connect(address(), std::chrono::seconds(5));
  ASSERT_TRUE(connected.ok()) << connected.failure().message;
  EXPECT_EQ(connected.value()->peer(), "unix:" + path().string());
  std::unique_ptr<Stream> accepted;
  ASSERT_EQ(listener.accept(accepted), Listener::Accept::accepted);
  EXPECT_THAT(accepted->peer(), HasSubstr("(process " + std::to_string(::getpid()) + ", user "));
  const std::string said = "hello";
  const IoSlice slice{reinterpret_cast<const std::byte*>(said.data()), said.size()};
  EXPECT_EQ(connected.value()->write(std::span(&slice, 1)).bytes, said.size());
  std::array<std::byte, 16> heard{};
  EXPECT_EQ(accepted->read(heard, Wait::coarsely).bytes, said.size());
}

TEST_F(Unix, APathIsRemovedWhenItsListenerCloses) {
  {
    const Listener listener(address());
  }
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(Unix, APathThatAnotherHasTakenSinceIsLeftAlone) {
  {
    const Listener listener(address());
    fs::remove(path());
    std::ofstream(path()) << "another's";
  }
  EXPECT_TRUE(fs::exists(path()));
}

/// As a killed server does.
void leave_behind(const fs::path& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ::close(fd);
  ASSERT_TRUE(fs::exists(path));
}

TEST_F(Unix, WhatADeadServerHasLeftIsReplaced) {
  leave_behind(path());
  const Listener listener(address());
  EXPECT_TRUE(connect(address(), std::chrono::seconds(5)).ok());
}

TEST_F(Unix, OfServersThatStartAtOnceOneTakesThePath) {
  for (int round = 0; round < 50; ++round) {
    if (round % 2 == 0) leave_behind(path());
    std::barrier together(4);
    std::vector<std::future<std::unique_ptr<Listener>>> starting;
    for (int i = 0; i < 4; ++i) {
      starting.push_back(std::async(std::launch::async, [&]() -> std::unique_ptr<Listener> {
        together.arrive_and_wait();
        try {
          return std::make_unique<Listener>(address());
        } catch (const Error&) {
          return nullptr;
        }
      }));
    }
    std::vector<std::unique_ptr<Listener>> started;
    for (auto& each : starting) {
      if (auto listener = each.get()) started.push_back(std::move(listener));
    }
    ASSERT_EQ(started.size(), 1U) << "round " << round;
    EXPECT_TRUE(connect(address(), std::chrono::seconds(5)).ok());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), fs::directory_iterator()), 0)
      << "neither the path nor its lock is left";
}

TEST_F(Unix, APathThatIsTakenIsRefusedInWords) {
  const Listener listener(address());
  EXPECT_THAT(refusal(address()),
              HasSubstr("cannot listen on unix:" + path().string() + ": the path is taken"));
  EXPECT_TRUE(connect(address(), std::chrono::seconds(5)).ok());
  std::ofstream(path("file")) << "precious";
  EXPECT_THAT(refusal(address("file")), HasSubstr("a file that is no socket"));
  EXPECT_EQ(fs::file_size(path("file")), 8U);
}

TEST_F(Unix, AFolderThatIsMissingOrNotOursIsRefusedInWords) {
  EXPECT_THAT(refusal(address("none/s")), HasSubstr("no such file or directory"));
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(refusal(address()), HasSubstr("permission denied"));
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(Unix, NobodyThereIsUnavailableAndNotExecuted) {
  const auto connected = connect(address(), std::chrono::seconds(5));
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.failure().code, Code::unavailable);
  EXPECT_EQ(connected.failure().execution, Execution::not_executed);
  EXPECT_EQ(connected.failure().message, "connect unix:" + path().string() + ": no such file or directory");
}

TEST_F(Unix, AFullQueueIsWaitedForNoLongerThanTheTimeout) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path().c_str(), sizeof at.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(fd, 0), 0);
  std::vector<std::unique_ptr<Stream>> queued;
  Failure failure;
  for (int i = 0; i < 8; ++i) {
    auto connected = connect(address(), std::chrono::milliseconds(20));
    if (!connected) {
      failure = connected.failure();
      break;
    }
    queued.push_back(std::move(connected).value());
  }
  EXPECT_THAT(failure.message, HasSubstr("connection timed out"));
  ::close(fd);
}

}  // namespace
}  // namespace mf::transport
