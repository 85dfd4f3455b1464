#pragma once
// Counts the keys that each process, the processes of each host, and all processes together lead or wait for.
// A candidate takes memory while it waits or leads, so each count has a bound. Pure data.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "mf/core/types.hpp"

namespace mf::controller {

class Candidacies {
 public:
  static constexpr std::size_t kMost = 100'000;
  static constexpr std::size_t kMostOfProcess = 1'024;
  static constexpr std::size_t kMostOfHost = 16'384;

  /// Why the process, which runs on `host`, may not ask for another key; nothing: it may.
  [[nodiscard]] std::optional<std::string> refusal(const Uuid& process, const std::string& host) const {
    if (count_of(of_process_, process) >= kMostOfProcess)
      return "a process may lead, or wait for, at most " + std::to_string(kMostOfProcess) + " keys";
    if (count_of(of_host_, host) >= kMostOfHost)
      return "the processes of one host may lead, or wait for, at most " + std::to_string(kMostOfHost) +
             " keys";
    if (all_ >= kMost)
      return "the controller lets at most " + std::to_string(kMost) + " keys be led, or waited for";
    return std::nullopt;
  }
  void add(const Uuid& process, const std::string& host) {
    ++of_process_[process];
    ++of_host_[host];
    ++all_;
  }
  void remove(const Uuid& process, const std::string& host) {
    count_down(of_process_, process);
    count_down(of_host_, host);
    --all_;
  }
  [[nodiscard]] bool has(const Uuid& process) const { return of_process_.contains(process); }

 private:
  template <class Of>
  static std::size_t count_of(const std::map<Of, std::size_t>& counts, const Of& of) {
    const auto found = counts.find(of);
    return found == counts.end() ? 0 : found->second;
  }
  template <class Of>
  static void count_down(std::map<Of, std::size_t>& counts, const Of& of) {
    const auto found = counts.find(of);
    if (--found->second == 0) counts.erase(found);
  }

  std::map<Uuid, std::size_t> of_process_;
  std::map<std::string, std::size_t> of_host_;
  std::size_t all_ = 0;
};

}  // namespace mf::controller
