#include "mf/link/pool.hpp"

#include <algorithm>

#include "mf/transport/tcp.hpp"

namespace mf::link {

Pool::Pool(std::shared_ptr<transport::Reactor> reactor, MakeOptions make_options,
           std::chrono::milliseconds connect_timeout)
    : reactor_(std::move(reactor)),
      make_options_(std::move(make_options)),
      connect_timeout_(connect_timeout) {}

Pool::~Pool() {
  close("the client was closed");
}

std::shared_ptr<Pool::Slot> Pool::slot(const Address& address) {
  const std::scoped_lock lock(mutex_);
  auto& slot = slots_[address];
  if (!slot) {
    slot = std::make_shared<Slot>();
    slot->backoff =
        Backoff(std::hash<std::string>{}(address.host) + address.port +
                static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  }
  return slot;
}

Outcome<std::shared_ptr<ClientLink>> Pool::open(const Address& address, TimePoint deadline) {
  const auto entry = slot(address);
  const std::scoped_lock lock(entry->opening);
  if (entry->link && entry->link->usable()) return entry->link;
  const auto now = std::chrono::steady_clock::now();
  if (now < entry->not_before) return entry->last_failure;
  auto opened = [&]() -> Outcome<std::shared_ptr<ClientLink>> {
    const auto until = std::min(deadline, now + connect_timeout_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    auto stream = transport::connect_tcp(address, std::max(left, std::chrono::milliseconds(1)));
    if (!stream) return stream.failure();
    return ClientLink::open(std::move(stream).value(), make_options_(), reactor_, until);
  }();
  if (opened) {
    const std::scoped_lock closing(mutex_);
    if (closed_) {
      opened.value()->close("the client was closed");
    } else {
      entry->link = opened.value();
    }
    entry->backoff.reset();
  } else {
    entry->last_failure = opened.failure();
    entry->not_before =
        std::chrono::steady_clock::now() + std::min(entry->backoff.next(), std::chrono::milliseconds(200));
  }
  return opened;
}

void Pool::forgive(const Address& address) {
  const auto entry = slot(address);
  const std::scoped_lock lock(entry->opening);
  entry->not_before = {};
  entry->backoff.reset();
}

void Pool::close(const std::string& reason) {
  std::map<Address, std::shared_ptr<Slot>> slots;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    slots.swap(slots_);
  }
  for (auto& [address, entry] : slots) {
    std::shared_ptr<ClientLink> link;
    {
      const std::scoped_lock lock(entry->opening);
      link = entry->link;
    }
    if (link) link->close(reason);
  }
}

}  // namespace mf::link
