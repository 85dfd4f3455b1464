// A library in this process: a server at a free port, with the shelves that are named.
#pragma once

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "guide.client.hpp"
#include "guide.server.hpp"
#include "mf/client/client.hpp"
#include "mf/core/current_call.hpp"
#include "mf/server/server.hpp"

class Shelf final : public guide::ShelfServant {
 public:
  std::uint32_t copies(const std::string& title) override {
    const std::lock_guard lock(mutex_);
    return book(title);
  }
  std::uint32_t lend(const std::string& title) override {
    const std::lock_guard lock(mutex_);
    return --book(title);
  }
  void titles(mf::StreamWriter<std::string>& out) override {
    std::vector<std::string> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [title, copies] : books_) all.push_back(title);
    }
    for (const auto& title : all) out.write(title);
  }
  std::uint32_t give_back(mf::StreamReader<std::string>& titles) override {
    std::uint32_t taken = 0;
    for (const std::string& title : titles) {
      const std::lock_guard lock(mutex_);
      ++book(title);
      ++taken;
    }
    return taken;
  }
  std::uint64_t count_pages() override {
    std::uint64_t looked = 0;
    for (const auto token = mf::current_call().stop_token(); !token.stop_requested(); ++looked)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++given_up_;
    return looked;
  }
  std::uint32_t given_up() override { return given_up_; }

 private:
  std::uint32_t& book(const std::string& title) {
    const auto found = books_.find(title);
    if (found == books_.end()) throw guide::NoSuchBook(title);
    return found->second;
  }

  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> books_{{"Emma", 3}, {"Persuasion", 1}};
  std::atomic<std::uint32_t> given_up_{0};
};

class Library {
 public:
  Library(std::initializer_list<const char*> shelves) : server_({.listen = "tcp://127.0.0.1:0"}) {
    for (const char* shelf : shelves) server_.offer(std::make_shared<Shelf>(), {.agent = shelf});
    server_.start();
  }
  std::string address() const { return server_.address().str(); }
  void stop() { server_.stop(); }

 private:
  mf::Server server_;
};
