#pragma once
// A disk in memory for the stores of controllers: it can refuse, fail at any operation, and lose unsynced
// data when the power fails.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "controller/store_folder.hpp"

namespace mftest {

struct FakeDisk {
  struct Data {
    std::vector<std::byte> bytes;
    std::size_t synced = 0;
  };
  using Names = std::map<std::string, std::shared_ptr<Data>>;

  std::mutex mutex;
  Names names;
  Names durable_names;  // the folder's names when it was last synced
  /// After so many operations all are refused with this error; negative: they all succeed.
  int operations_left = -1;
  std::error_code refusal = std::make_error_code(std::errc::no_space_on_device);
  std::size_t operations = 0;
  std::set<std::string> unreadable;
  /// Called after each append.
  std::function<void()> appended = [] {};
  /// Called while a file waits for the disk.
  std::function<void()> syncing = [] {};

  std::error_code operate() noexcept {
    ++operations;
    if (operations_left == 0) return refusal;
    if (operations_left > 0) --operations_left;
    return {};
  }
  void refuse() { operations_left = 0; }
  void allow() { operations_left = -1; }

  /// Drops everything that was not synced.
  void lose_power() {
    names = durable_names;
    for (auto& [name, data] : names) data->bytes.resize(data->synced);
  }
  std::vector<std::byte>& bytes(const std::string& name) { return names.at(name)->bytes; }
};

class FakeFolder final : public mf::controller::StoreFolder {
 public:
  explicit FakeFolder(std::shared_ptr<FakeDisk> disk) : disk_(std::move(disk)) {}

  std::string path() const override { return "/fake"; }
  std::error_code lock() override {
    const std::scoped_lock lock(disk_->mutex);
    return disk_->operate();
  }

  std::error_code read(const std::string& name, std::vector<std::byte>& bytes) const override {
    bytes.clear();
    const std::scoped_lock lock(disk_->mutex);
    const auto found = disk_->names.find(name);
    if (found == disk_->names.end()) return std::make_error_code(std::errc::no_such_file_or_directory);
    bytes = found->second->bytes;
    if (!disk_->unreadable.contains(name)) return {};
    bytes.resize(bytes.size() / 2);
    return std::make_error_code(std::errc::io_error);
  }
  std::unique_ptr<mf::controller::StoreFile> create(const std::string& name,
                                                    std::error_code& error) noexcept override {
    const std::scoped_lock lock(disk_->mutex);
    error = disk_->operate();
    if (error) return nullptr;
    auto data = std::make_shared<FakeDisk::Data>();
    disk_->names[name] = data;
    return std::make_unique<File>(disk_, std::move(data));
  }
  std::error_code rename(const std::string& from, const std::string& to) noexcept override {
    const std::scoped_lock lock(disk_->mutex);
    if (const auto error = disk_->operate()) return error;
    auto node = disk_->names.extract(from);
    if (node.empty()) return std::make_error_code(std::errc::no_such_file_or_directory);
    disk_->names[to] = std::move(node.mapped());
    return {};
  }
  std::error_code link(const std::string& from, const std::string& to) noexcept override {
    const std::scoped_lock lock(disk_->mutex);
    if (const auto error = disk_->operate()) return error;
    disk_->names[to] = disk_->names.at(from);
    return {};
  }
  void remove(const std::string& name) noexcept override {
    const std::scoped_lock lock(disk_->mutex);
    if (!disk_->operate()) disk_->names.erase(name);
  }
  std::error_code sync() noexcept override {
    const std::scoped_lock lock(disk_->mutex);
    if (const auto error = disk_->operate()) return error;
    disk_->durable_names = disk_->names;
    return {};
  }

 private:
  class File final : public mf::controller::StoreFile {
   public:
    File(std::shared_ptr<FakeDisk> disk, std::shared_ptr<FakeDisk::Data> data)
        : disk_(std::move(disk)), data_(std::move(data)) {}

    std::error_code append(std::span<const std::byte> bytes) noexcept override {
      std::unique_lock lock(disk_->mutex);
      const std::error_code error = disk_->operate();
      if (error) bytes = bytes.first(bytes.size() / 2);  // a full disk accepts what fits
      data_->bytes.insert(data_->bytes.end(), bytes.begin(), bytes.end());
      lock.unlock();
      disk_->appended();
      return error;
    }
    std::error_code sync() noexcept override {
      std::size_t size = 0;
      {
        const std::scoped_lock lock(disk_->mutex);
        size = data_->bytes.size();
      }
      disk_->syncing();
      const std::scoped_lock lock(disk_->mutex);
      if (const auto error = disk_->operate()) return error;
      data_->synced = std::max(data_->synced, size);
      return {};
    }

   private:
    const std::shared_ptr<FakeDisk> disk_;
    const std::shared_ptr<FakeDisk::Data> data_;
  };

  const std::shared_ptr<FakeDisk> disk_;
};

}  // namespace mftest
