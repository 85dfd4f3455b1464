// The stores in memory and in files fulfil the contract of all stores; tests/etcd/ tests the one in etcd.

#include "controller/store_contract.hpp"
#include "mf/controller/file_store.hpp"
#include "support/folder.hpp"

namespace mf::controller::store_contract {
namespace {

struct MemoryKind {
  static constexpr bool kShared = false;
  Store& first() { return store; }
  Store& next() { return store; }
  MemoryStore store;
};

struct FileKind {
  static constexpr bool kShared = false;
  Store& first() { return open(); }
  Store& next() { return open(); }
  Store& open() {
    store.reset();  // one process at a time
    store = std::make_unique<FileStore>(folder.path() / "store");
    return *store;
  }
  mftest::Folder folder;
  std::unique_ptr<FileStore> store;
};

using Kinds = testing::Types<MemoryKind, FileKind>;
INSTANTIATE_TYPED_TEST_SUITE_P(Stores, StoreTest, Kinds);

}  // namespace
}  // namespace mf::controller::store_contract
