#include "mf/link/local_paths.hpp"

#include <utility>

#include "mf/core/failure.hpp"
#include "mf/transport/socket.hpp"

namespace mf::link {
namespace {

// How many paths are remembered, so that each is logged once.
constexpr std::size_t kMostLogged = 1'024;

}  // namespace

Outcome<void> LocalPaths::check(const Instance& instance) {
  const auto& path = instance.local;
  if (!allowed_) return refuse(path, "a client with TLS calls over TLS only", is_only_way(instance));
  if (!transport::exists_here(path)) return refuse(path, "there is no such socket on this host", false);
  if (const auto why = trust_.refusal(path); !why.empty()) return refuse(path, why, true);
  return {};
}

Outcome<void> LocalPaths::check(const Address& path, const transport::Stream& connected) {
  if (const auto why = trust_.refusal(connected); !why.empty()) return refuse(path, why, true);
  return {};
}

Failure LocalPaths::another_process(const Instance& instance) {
  return not_executed(Code::unavailable,
                      instance.local.str() + ": another process answers than the one that has registered it");
}

Failure LocalPaths::refuse(const Address& path, const std::string& why, bool logged) {
  if (logged) {
    bool is_news = false;
    {
      const std::scoped_lock lock(mutex_);
      if (logged_.size() >= kMostLogged) logged_.clear();
      is_news = logged_.insert(path.host).second;
    }
    if (is_news) log_.write(Level::warning, "path_not_used", {{"address", path.str()}, {"reason", why}});
  }
  return not_executed(Code::unavailable, path.str() + " is not used: " + why);
}

}  // namespace mf::link
