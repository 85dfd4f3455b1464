// Properties of the store in files beyond the contract of all stores.

#include "mf/controller/file_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <fstream>

#include "controller/durable_map.hpp"
#include "controller/fake_disk.hpp"
#include "controller/promises.hpp"
#include "controller/store_folder.hpp"
#include "mf/core/error.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mf::controller {
namespace {

using mftest::FakeDisk;
using mftest::FakeFolder;
using mftest::KeptLog;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_promises::client_ids;
using testing_promises::lead;

const Uuid kNonce{{1, 2, 3}};

Key echo() {
  return {.kind = KeyKind::service, .name = "demo.Echo", .agent = "red"};
}

stored::Process process(const std::string& name) {
  stored::Process process{.secret_hash = Bytes(32, std::byte{7}), .name = name};
  process.offers.push_back({.key = echo(), .addresses = {"tcp://10.0.0.7:7401"}});
  return process;
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

std::string why_not(Store& store) {
  try {
    (void)store.load();
  } catch (const Error& error) {
    return error.what();
  }
  return "it was loaded";
}

/// Makes permissions count for this thread, even if the tests are run by root.
class AsNobody {
 public:
  AsNobody() : before_(static_cast<uid_t>(::setfsuid(kNobody))) {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { ::setfsuid(before_); }

 private:
  static constexpr uid_t kNobody = 65534;
  uid_t before_;
};

/// The keys and values below a store.
struct RawStore {
  explicit RawStore(const std::shared_ptr<FakeDisk>& disk)
      : map(std::make_unique<FakeFolder>(disk), {.own_thread = false}), values(map.load().values) {}
  void set(const std::string& key, const std::string& text) {
    map.apply({{.key = key, .value = Bytes(std::as_bytes(std::span(text)))}}, false);
  }

  DurableMap map;
  DurableMap::Values values;
};

struct FileStoreTest : testing::Test {
  FileStore on_fake() {
    return FileStore(std::make_unique<FakeFolder>(disk), Log(log), std::size_t{1} << 20);
  }

  mftest::Folder folder;
  std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
};

TEST_F(FileStoreTest, MakesItsFoldersAndLetsNobodyElseRead) {
  const auto path = folder.path() / "state" / "mf" / "controller";
  FileStore store(path);
  (void)store.load();
  store.put(kNonce, process("a"));
  EXPECT_EQ(store.state().name, "file:" + path.string());
  EXPECT_EQ(mode_of(folder.path() / "state"), 0700U);
  EXPECT_EQ(mode_of(path), 0700U);
  EXPECT_EQ(mode_of(path / "registry"), 0600U);
  EXPECT_EQ(mode_of(path / "lock"), 0600U);
}

TEST_F(FileStoreTest, TwoControllersNeverHaveOneFolder) {
  FileStore first(folder.path());
  (void)first.load();
  FileStore second(folder.path());
  EXPECT_THAT(why_not(second),
              AllOf(HasSubstr(folder.path().string()), HasSubstr("in use"),
                    HasSubstr("process " + std::to_string(::getpid())), HasSubstr("--store")));
  first.put(kNonce, process("a"));
  EXPECT_EQ(lead(first, echo(), 7), 7U);
}

TEST_F(FileStoreTest, SaysWhatIsWrongWithAPathThatIsNoFolder) {
  std::ofstream(folder.path() / "file") << "x";
  FileStore file(folder.path() / "file");
  EXPECT_THAT(why_not(file),
              AllOf(HasSubstr("file cannot be opened"), HasSubstr("Not a directory"), HasSubstr("--store")));
  FileStore below(folder.path() / "file" / "below");
  EXPECT_THAT(why_not(below), HasSubstr("Not a directory"));
}

TEST_F(FileStoreTest, SaysThatItMayNotMakeAFolder) {
  using std::filesystem::perms;
  const auto kept = folder.path() / "kept";
  std::filesystem::create_directory(kept);
  // A process that may search the folder, but not create anything, must not get the answer that it does not
  // exist.
  const perms search = perms::owner_exec | perms::group_exec | perms::others_exec;
  std::filesystem::permissions(kept, search | perms::owner_read);
  std::filesystem::permissions(folder.path(), search | perms::owner_all);
  FileStore store(kept / "below");
  const AsNobody nobody;
  EXPECT_THAT(why_not(store), AllOf(HasSubstr("below cannot be opened"), HasSubstr("Permission denied")));
}

TEST_F(FileStoreTest, WhatCannotBeReadHasNoBytes) {
  std::filesystem::create_directory(folder.path() / "registry");
  std::vector<std::byte> bytes(1);
  EXPECT_EQ(open_store_folder(folder.path())->read("registry", bytes), std::errc::is_a_directory);
  EXPECT_TRUE(bytes.empty());
}

TEST_F(FileStoreTest, TheOneBeforeIsKeptAsAPreviousCopy) {
  {
    FileStore store(folder.path());
    (void)store.load();
    store.put(kNonce, process("a"));
  }
  {
    FileStore store(folder.path());
    (void)store.load();
    store.remove(kNonce);
  }
  std::filesystem::remove(folder.path() / "registry");
  FileStore store(folder.path());
  EXPECT_EQ(store.load().processes.at(kNonce), process("a"));
}

TEST_F(FileStoreTest, WhatANewerReleaseKeepsUnderOtherKeysStays) {
  RawStore(disk).set("region", "eu");
  {
    FileStore store = on_fake();
    (void)store.load();
    store.put(kNonce, process("a"));
  }
  EXPECT_EQ(RawStore(disk).values.at("region").text(), "eu");
  EXPECT_EQ(log->size(), 0U);
}

TEST_F(FileStoreTest, AnEpochThatIsNotOnTheDiskIsNotDurable) {
  FileStore store = on_fake();
  (void)store.load();
  EXPECT_EQ(lead(store, echo(), 7), 7U);
  const auto first = client_ids(store, 4096);
  ASSERT_TRUE(first.has_value());
  disk->lose_power();
  {
    FileStore next = on_fake();
    const Stored stored = next.load();
    EXPECT_EQ(stored.epoch, 7U);
    EXPECT_EQ(stored.next_client_id, *first + 4096);
  }
  disk->refuse();
  EXPECT_EQ(lead(store, echo(), 8), std::nullopt);
  EXPECT_EQ(client_ids(store, 4096), std::nullopt);
  EXPECT_FALSE(store.state().ok);
  EXPECT_THAT(store.state().reason, HasSubstr("No space left"));
}

TEST_F(FileStoreTest, WhatWasRefusedIsNotPromisedToAnybodyLater) {
  FileStore store = on_fake();
  (void)store.load();
  const auto first = client_ids(store, 10);
  disk->refuse();
  EXPECT_EQ(lead(store, echo(), 7), std::nullopt);
  EXPECT_EQ(client_ids(store, 10), std::nullopt);
  disk->allow();
  EXPECT_TRUE(store.tend());
  EXPECT_EQ(lead(store, echo(), 7), 8U) << "the disk may have taken the other one all the same";
  EXPECT_EQ(client_ids(store, 10), *first + 20);
}

TEST_F(FileStoreTest, AfterDamageClientIdsGoOnFarBehindThoseThatMayHaveBeenGiven) {
  std::uint32_t next = 0;
  {
    FileStore store = on_fake();
    (void)store.load();
    next = *client_ids(store, 4096) + 4096;
    store.put(kNonce, process("a"));
  }
  disk->bytes("registry").pop_back();
  disk->bytes("registry").back() ^= std::byte{1};
  disk->bytes("registry").resize(disk->bytes("registry").size() - 8);
  {
    FileStore store = on_fake();
    EXPECT_EQ(store.load().next_client_id, next + FileStore::kIdsSkippedAfterDamage);
  }
  FileStore store = on_fake();
  EXPECT_EQ(store.load().next_client_id, next + FileStore::kIdsSkippedAfterDamage) << "once";
}

TEST_F(FileStoreTest, AValueThatMeansNothingIsReportedOnceAndTheOthersAreRead) {
  {
    RawStore map(disk);
    map.set("process/00", "x");
    map.set("process/" + std::string(32, '1'), "\xff\xff");
    map.set("epoch", "\xff\xff");
    map.set("process/" + std::string(32, '2') + "/0/demo.Echo/", "");  // an offer without a process
    map.set("cluster", "\xff\xff");
  }
  Stored stored;
  {
    FileStore store = on_fake();
    stored = store.load();
  }
  EXPECT_TRUE(stored.processes.empty());
  EXPECT_EQ(stored.epoch, 0U);
  EXPECT_NE(stored.cluster, Uuid());
  EXPECT_EQ(log->size(), 5U);
  EXPECT_TRUE(log->has("process/00"));
  FileStore next = on_fake();
  EXPECT_EQ(next.load().cluster, stored.cluster);
  EXPECT_EQ(log->size(), 5U) << "nothing of it is left";
}

TEST_F(FileStoreTest, OpenStoreKnowsTheWaysToNameOne) {
  EXPECT_EQ(open_store("memory:", Log())->state().name, "memory");
  const std::string path = (folder.path() / "x").string();
  EXPECT_EQ(open_store(path, Log())->state().name, "file:" + path);
  EXPECT_EQ(open_store("file:" + path, Log())->state().name, "file:" + path);
  for (const char* wrong : {"", "file:", "mysql://h:1", "tcp://h:1"})
    EXPECT_THROW((void)open_store(wrong, Log()), Error) << wrong;
}

}  // namespace
}  // namespace mf::controller
