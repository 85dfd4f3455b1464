#include "mf/transport/trust.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "transport/schemes.hpp"

namespace mf::transport {
namespace {

std::string owned_by(const std::string& path, uid_t user) {
  return path + " belongs to user " + std::to_string(user);
}

struct Free {
  void operator()(char* text) const noexcept { std::free(text); }
};

/// The path of the folder without symbolic links; empty if there is none.
std::string real_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  const std::unique_ptr<char, Free> real(::realpath(folder.c_str(), nullptr));
  return real ? std::string(real.get()) : std::string();
}

}  // namespace

bool Trust::has(uid_t user) const noexcept {
  return user == 0 || user == ::geteuid() || std::ranges::find(users_, user) != users_.end();
}

std::string Trust::refusal(const Address& path) const {
  struct stat found{};
  if (::lstat(path.host.c_str(), &found) != 0) return path.host + ": " + in_words(errno);
  if (!S_ISSOCK(found.st_mode)) return path.host + " is no socket";
  if (!has(found.st_uid)) return owned_by(path.host, found.st_uid);
  const auto folder = real_folder_of(path.host);
  if (folder.empty()) return "the folder of " + path.host + " cannot be read";
  for (auto above = std::filesystem::path(folder);; above = above.parent_path()) {
    if (::lstat(above.c_str(), &found) != 0) return above.string() + ": " + in_words(errno);
    if (!has(found.st_uid)) return owned_by(above.string(), found.st_uid);
    // In a folder with the sticky bit, as /tmp, only the owner of an entry may replace it, and that owner is
    // trusted.
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (found.st_mode & S_ISVTX) == 0)
      return "other users may write to " + above.string();
    if (above == above.root_path()) return {};
  }
}

std::string Trust::refusal(const Stream& connected) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connected.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return "the system does not say whose process it is";
  if (has(peer.uid)) return {};
  return "the process that listens there belongs to user " + std::to_string(peer.uid);
}

}  // namespace mf::transport
