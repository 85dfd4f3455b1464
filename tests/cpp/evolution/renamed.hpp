// The states of a schema as one: services of before.mfidl, between.mfidl and after.mfidl under the same
// names, each with the descriptor and the fingerprint that it would have if its module were `evolve`.
#pragma once

#include <openssl/sha.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "evolve/after.client.hpp"
#include "evolve/after.server.hpp"
#include "evolve/before.client.hpp"
#include "evolve/before.server.hpp"
#include "mf/core/service.hpp"
#include "mf/core/service_texts.hpp"

namespace mftest {

namespace before = ::evolve::before;
namespace after = ::evolve::after;

inline std::string without(std::string text, std::string_view module) {
  for (auto at = text.find(module); at != std::string::npos; at = text.find(module, at))
    text.replace(at, module.size(), "evolve.");
  return text;
}

class Renamed {
 public:
  explicit Renamed(const mf::ServiceInfo& of) : info_(of) {
    const auto module = of.name.substr(0, of.name.rfind('.') + 1);  // "evolve.before."
    name_ = without(std::string(of.name), module);
    descriptor_ = without(std::string(mf::descriptor_of(of)), module);
    annex_ = without(std::string(mf::annex_of(of)), module);
    info_.name = name_;
    info_.annex = annex_;
    info_.texts = nullptr;
    describe_as(descriptor_);
  }
  Renamed(const Renamed&) = delete;
  Renamed& operator=(const Renamed&) = delete;

  [[nodiscard]] const mf::ServiceInfo& info() const noexcept { return info_; }
  /// Has another descriptor, and its fingerprint.
  void describe_as(std::string descriptor) {
    descriptor_ = std::move(descriptor);
    info_.descriptor = descriptor_;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    ::SHA256(reinterpret_cast<const unsigned char*>(descriptor_.data()), descriptor_.size(), digest.data());
    std::copy_n(digest.begin(), info_.fingerprint.size(), info_.fingerprint.begin());
  }
  mf::ServiceInfo& change() noexcept { return info_; }

 private:
  std::string name_;
  std::string descriptor_;
  std::string annex_;
  mf::ServiceInfo info_;
};

/// One for each service of this process.
inline const mf::ServiceInfo& renamed_service(const mf::ServiceInfo& of) {
  static std::mutex mutex;
  static std::map<std::string, Renamed, std::less<>> kept;
  const std::scoped_lock lock(mutex);
  return kept.try_emplace(std::string(of.name), of).first->second.info();
}
/// The service that a generated stub calls, renamed.
template <class M>
const mf::ServiceInfo& renamed() {
  return renamed_service(M::kService);
}

/// A servant under the name that its service has once it is renamed.
template <class Servant>
class Under : public Servant {
 public:
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return renamed_.info(); }
  [[nodiscard]] Renamed& renaming() noexcept { return renamed_; }

 private:
  Renamed renamed_{Servant::service()};
};

}  // namespace mftest
