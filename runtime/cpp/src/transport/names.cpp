#include "mf/transport/names.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <system_error>

#include "mf/transport/thread.hpp"

namespace mf::transport {
namespace {

/// Alternates between the families, since a broken family fails for all of its addresses.
std::vector<SocketAddress> in_turn(const addrinfo* list) {
  std::vector<SocketAddress> preferred;
  std::vector<SocketAddress> other;
  for (const auto* to = list; to != nullptr; to = to->ai_next) {
    SocketAddress address{.size = to->ai_addrlen};
    std::memcpy(&address.bytes, to->ai_addr, to->ai_addrlen);
    (to->ai_family == list->ai_family ? preferred : other).push_back(address);
  }
  std::vector<SocketAddress> all;
  for (std::size_t i = 0; i < std::max(preferred.size(), other.size()); ++i) {
    if (i < preferred.size()) all.push_back(preferred[i]);
    if (i < other.size()) all.push_back(other[i]);
  }
  return all;
}

}  // namespace

AddrInfoList look_up(const Address& address, int flags, std::string& problem) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const auto port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); code != 0) {
    problem = ::gai_strerror(code);
    return nullptr;
  }
  return AddrInfoList(found);
}

struct Names::LookUp {
  std::mutex mutex;
  bool ended = false;
  Found found;
  std::vector<std::function<void(Found)>> waiting;

  void run(Resolve resolve, const Address& address) {
    std::string problem;
    const auto list = resolve(address, 0, problem);
    std::vector<std::function<void(Found)>> to_tell;
    {
      const std::scoped_lock lock(mutex);
      found = {.addresses = in_turn(list.get()), .problem = std::move(problem)};
      ended = true;
      to_tell.swap(waiting);
    }
    for (const auto& then : to_tell) then(found);
  }
};

void Names::find(const Address& address, std::function<void(Found)> then) {
  std::string problem;
  if (const auto numeric = mf::transport::look_up(address, AI_NUMERICHOST, problem))
    return then({.addresses = in_turn(numeric.get()), .problem = {}});
  try {
    const auto look_up = begin(address);
    std::unique_lock lock(look_up->mutex);
    if (!look_up->ended) return look_up->waiting.push_back(std::move(then));
    lock.unlock();
    then(look_up->found);
  } catch (const std::system_error& error) {
    then({.addresses = {}, .problem = std::string("no thread for it: ") + error.what()});
  }
}

std::shared_ptr<Names::LookUp> Names::begin(const Address& address) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(under_way_, [](const auto& entry) { return entry.second.expired(); });
  auto& place = under_way_[address];
  auto look_up = place.lock();
  if (look_up) return look_up;
  look_up = std::make_shared<LookUp>();
  start_thread([look_up, address, resolve = resolve_] { look_up->run(resolve, address); }).detach();
  place = look_up;
  return look_up;
}

std::shared_ptr<Names> make_names() {
  return std::make_shared<Names>();
}

}  // namespace mf::transport
