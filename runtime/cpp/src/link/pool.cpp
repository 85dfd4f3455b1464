#include "mf/link/pool.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mf/core/failure.hpp"

namespace mf::link {
namespace {

// A live server on this host answers within this time; a foreign path must not keep a call from the network.
constexpr auto kLocalAnswersWithin = std::chrono::milliseconds(250);

// Between attempts at one address: a server that returns is used again within 300 ms.
constexpr auto kLongestPause = std::chrono::milliseconds(200);

struct OwnDescriptor {
  explicit OwnDescriptor(int of) noexcept : fd(::fcntl(of, F_DUPFD_CLOEXEC, 0)) {}
  ~OwnDescriptor() {
    if (fd >= 0) ::close(fd);
  }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  const int fd;
};

}  // namespace

Pool::Pool(std::shared_ptr<transport::Reactor> reactor, MakeOptions make_options,
           std::chrono::milliseconds connect_timeout, std::shared_ptr<transport::TlsContext> tls,
           std::chrono::milliseconds dead_after, std::shared_ptr<LocalPaths> paths)
    : reactor_(std::move(reactor)),
      make_options_(std::move(make_options)),
      connect_timeout_(connect_timeout),
      dead_after_(dead_after),
      connecting_{.tls = std::move(tls), .stop = stop_.get_token()},
      paths_(std::move(paths)) {}

Pool::~Pool() {
  close("the client was closed");
}

std::shared_ptr<Pool::Slot> Pool::slot(const Address& address) {
  const std::scoped_lock lock(mutex_);
  auto& slot = slots_[address];
  if (!slot) {
    slot = std::make_shared<Slot>();
    slot->backoff = Backoff(std::hash<std::string>{}(address.host) + address.port +
                                static_cast<std::uint64_t>(mf::now().time_since_epoch().count()),
                            kLongestPause);
  }
  return slot;
}

Outcome<std::shared_ptr<ClientLink>> Pool::open(const Instance& instance, TimePoint deadline) {
  if (instance.local.scheme.empty()) return open(instance.address, deadline);
  if (LocalPaths::is_only_way(instance)) return open_path(instance, deadline);
  auto link = open_path(instance, std::min(deadline, mf::now() + kLocalAnswersWithin));
  return link ? std::move(link) : open(instance.address, deadline);
}

Outcome<std::shared_ptr<ClientLink>> Pool::open_path(const Instance& instance, TimePoint deadline) {
  if (auto allowed = paths_->check(instance); !allowed) return allowed.failure();
  auto link = open(instance.local, Named::by_instance, deadline);
  if (link && link.value()->peer_nonce() != instance.nonce) return LocalPaths::another_process(instance);
  return link;
}

Outcome<std::shared_ptr<ClientLink>> Pool::open(const Address& address, TimePoint deadline) {
  return open(address, Named::by_user, deadline);
}

Outcome<std::shared_ptr<ClientLink>> Pool::open(const Address& address, Named named, TimePoint deadline) {
  const auto entry = slot(address);
  std::unique_lock lock(entry->opening, std::defer_lock);
  if (!lock.try_lock() && !(deadline == kNever ? (lock.lock(), true) : lock.try_lock_until(deadline))) {
    return not_executed(Code::unavailable, "no connection to " + address.str() + " within the deadline");
  }
  if (auto link = current(*entry); link && link->usable()) return link;
  const auto now = mf::now();
  if (now < entry->not_before) return entry->last_failure;
  auto opened = connect(address, named, *entry, now, deadline);
  if (!opened) {
    entry->last_failure = opened.failure();
    entry->not_before = mf::now() + entry->backoff.next();
    return opened;
  }
  entry->backoff.reset();
  opened.value()->learn(
      [&](Standing& standing) { standing.connected(std::exchange(entry->was_connected, true), mf::now()); });
  bool kept = false;
  {
    const std::scoped_lock closing(mutex_);
    kept = !closed_;
    if (kept) {
      if (entry->link && !entry->link->broken()) entry->former.push_back(entry->link);
      std::erase_if(entry->former, [](const auto& former) { return former.expired(); });
      entry->link = opened.value();
    }
  }
  if (!kept) opened.value()->close("the client was closed");
  lock.unlock();
  drop_ended();
  return opened;
}

Outcome<std::shared_ptr<ClientLink>> Pool::connect(const Address& address, Named named, Slot& slot,
                                                   TimePoint now, TimePoint deadline) {
  const auto until = std::min(deadline, now + connect_timeout_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
  auto stream = transport::connect(address, std::max(left, std::chrono::milliseconds(1)), connecting_);
  if (!stream) return stream.failure();
  // Checked before HELLO is sent, which contains the client's authentication.
  if (named == Named::by_instance)
    if (auto allowed = paths_->check(address, *stream.value()); !allowed) return allowed.failure();
  // A descriptor of its own, since the stream's may be closed, and its number reused, before this ends.
  const OwnDescriptor same(stream.value()->fd());
  const std::stop_callback end(connecting_.stop, [&same] { ::shutdown(same.fd, SHUT_RDWR); });
  return ClientLink::open(std::move(stream).value(), make_options_(), reactor_, until,
                          {.dead_after = dead_after_, .standing = slot.standing});
}

std::shared_ptr<ClientLink> Pool::current(const Slot& slot) {
  const std::scoped_lock lock(mutex_);
  return slot.link;
}

void Pool::drop_ended() {
  std::vector<std::shared_ptr<ClientLink>> idle;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [address, entry] : slots_) {
      if (entry->link && entry->link->in_flight() == 0) idle.push_back(entry->link);
    }
  }
  for (const auto& link : idle) link->poll();
  const std::scoped_lock lock(mutex_);
  for (const auto& [address, entry] : slots_) {
    if (entry->link && entry->link->broken()) entry->link = nullptr;
  }
}

void Pool::reset_backoff(const Address& address) {
  const auto entry = slot(address);
  const std::unique_lock lock(entry->opening, std::try_to_lock);
  if (!lock) return;  // another thread is trying it now
  entry->not_before = {};
  entry->backoff.reset();
}

void Pool::close(const std::string& reason) {
  std::map<Address, std::shared_ptr<Slot>> slots;
  std::vector<std::shared_ptr<ClientLink>> links;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    slots.swap(slots_);
    for (const auto& [address, entry] : slots) {
      if (entry->link) links.push_back(entry->link);
      for (const auto& weak : entry->former) {
        if (auto former = weak.lock()) links.push_back(std::move(former));
      }
    }
  }
  stop_.request_stop();
  for (const auto& link : links) link->close(reason);
}

}  // namespace mf::link
