#include "mf/transport/memory_port.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "transport/schemes.hpp"
#include "transport/socket_stream.hpp"

namespace mf::transport {

struct MemoryPort::Queue {
  Queue() : fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Queue() { ::close(fd); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const int fd;
  std::mutex mutex;
  std::deque<std::unique_ptr<Stream>> waiting;
  bool closed = false;
};

namespace {

// The in-memory names of this process.
struct MemoryNames {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<MemoryPort::Queue>, std::less<>> listening;
  std::map<std::string, std::weak_ptr<MemoryGuard>, std::less<>> guards;
};

MemoryNames& names() {
  static auto* const all = new MemoryNames;  // never destroyed, since threads may end later
  return *all;
}

/// One direction of a connection, as await_settled() needs it.
struct Way {
  [[nodiscard]] bool settled() const {
    if (ended || reader.load() == std::this_thread::get_id()) return true;
    return unread == 0 && !busy;
  }

  std::atomic<bool> ended{false};
  std::atomic<std::int64_t> unread{0};
  std::atomic<bool> busy{false};  // the reader has got data, and has not asked for more yet
  std::atomic<bool> left{false};  // nothing was read for long
  std::atomic<std::thread::id> reader{};
};

struct Ways {
  std::mutex mutex;
  std::vector<std::weak_ptr<Way>> all;
};

Ways& ways() {
  static auto* const all = new Ways;  // never destroyed, as the names
  return *all;
}

std::shared_ptr<Way> new_way() {
  auto way = std::make_shared<Way>();
  auto& of = ways();
  const std::scoped_lock lock(of.mutex);
  std::erase_if(of.all, [](const auto& weak) { return weak.expired(); });
  of.all.push_back(way);
  return way;
}

class MemoryStream final : public SocketStream {
 public:
  MemoryStream(int fd, std::string peer, std::shared_ptr<Way> in, std::shared_ptr<Way> out)
      : SocketStream(fd, std::move(peer)), in_(std::move(in)), out_(std::move(out)) {}
  ~MemoryStream() override { MemoryStream::shutdown(); }

  IoResult read(std::span<std::byte> into, Wait wait) noexcept override {
    in_->reader = std::this_thread::get_id();
    in_->busy = false;
    in_->left = false;
    const auto result = SocketStream::read(into, wait);
    in_->busy = result.bytes != 0;
    in_->unread -= static_cast<std::int64_t>(result.bytes);
    return result;
  }
  void handled() noexcept override { in_->busy = false; }
  IoResult write(std::span<const IoSlice> slices) noexcept override {
    std::int64_t all = 0;
    for (const auto& slice : slices) all += static_cast<std::int64_t>(slice.size);
    out_->unread += all;  // before any of it can be read
    const auto result = SocketStream::write(slices);
    out_->unread -= all - static_cast<std::int64_t>(result.bytes);
    return result;
  }
  void shutdown() noexcept override {
    in_->ended = true;
    out_->ended = true;
    SocketStream::shutdown();
  }

 private:
  const std::shared_ptr<Way> in_;
  const std::shared_ptr<Way> out_;
};

MemoryGuard::Ends new_ends(const Address& address) {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0)
    throw Error(Code::unavailable, Execution::not_executed, "no descriptors are left");
  auto to_server = new_way();
  auto to_client = new_way();
  return {std::make_unique<MemoryStream>(fds[0], address.str(), to_client, to_server),
          std::make_unique<MemoryStream>(fds[1], address.str(), to_server, to_client)};
}

}  // namespace

void await_settled() {
  constexpr auto kSettlesWithin = std::chrono::milliseconds(500);
  std::vector<std::shared_ptr<Way>> open;
  {
    auto& all = ways();
    const std::scoped_lock lock(all.mutex);
    for (const auto& weak : all.all) {
      if (auto way = weak.lock(); way && !way->ended && !way->left) open.push_back(std::move(way));
    }
  }
  const auto until = std::chrono::steady_clock::now() + kSettlesWithin;
  for (;;) {
    std::erase_if(open, [](const auto& way) { return way->settled(); });
    if (open.empty()) return;
    if (std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  for (const auto& way : open) way->left = true;  // until it is read again
}

void set_memory_guard(const std::string& name, const std::shared_ptr<MemoryGuard>& guard) {
  auto& all = names();
  const std::scoped_lock lock(all.mutex);
  std::erase_if(all.guards, [](const auto& entry) { return entry.second.expired(); });
  all.guards[name] = guard;
}

MemoryPort::MemoryPort(const Address& address) : name_(address.host), queue_(std::make_shared<Queue>()) {
  if (queue_->fd < 0) cannot_listen(address, "no descriptors are left");
  auto& all = names();
  const std::scoped_lock lock(all.mutex);
  if (!all.listening.emplace(name_, queue_).second)
    cannot_listen(address, "another server of this process listens there");
}

MemoryPort::~MemoryPort() {
  {
    auto& all = names();
    const std::scoped_lock lock(all.mutex);
    all.listening.erase(name_);
  }
  const std::scoped_lock lock(queue_->mutex);
  queue_->closed = true;
  queue_->waiting.clear();
}

int MemoryPort::fd() const noexcept {
  return queue_->fd;
}

std::unique_ptr<Stream> MemoryPort::accept() noexcept {
  const std::scoped_lock lock(queue_->mutex);
  if (queue_->waiting.empty()) return nullptr;
  auto stream = std::move(queue_->waiting.front());
  queue_->waiting.pop_front();
  std::uint64_t count = 0;
  if (queue_->waiting.empty()) (void)!::read(queue_->fd, &count, sizeof count);
  return stream;
}

Outcome<std::unique_ptr<Stream>> connect_memory(const Address& address) {
  std::shared_ptr<MemoryPort::Queue> queue;
  std::shared_ptr<MemoryGuard> guard;
  {
    auto& all = names();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.listening.find(address.host); found != all.listening.end())
      queue = found->second;
    if (const auto found = all.guards.find(address.host); found != all.guards.end())
      guard = found->second.lock();
  }
  auto ends = queue ? new_ends(address) : MemoryGuard::Ends();
  if (guard) {
    auto guarded = guard->connecting(std::move(ends));
    if (!guarded)
      return not_executed(Code::unavailable, "connect " + address.str() + ": " + guarded.failure().message);
    ends = std::move(guarded).value();
  }
  if (queue) {
    const std::scoped_lock lock(queue->mutex);
    if (!queue->closed) {
      queue->waiting.push_back(std::move(ends.second));
      const std::uint64_t one = 1;
      (void)!::write(queue->fd, &one, sizeof one);
      return std::move(ends.first);
    }
  }
  return not_executed(Code::unavailable, "connect " + address.str() + ": connection refused");
}

}  // namespace mf::transport
