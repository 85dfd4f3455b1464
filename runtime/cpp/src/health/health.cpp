// The servant of the health service that every server has (runtime/idl/mf/health.mfidl).
#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/health.server.hpp"
#include "mf/server/readiness.hpp"

namespace mf::health {
namespace {

/// A watch asks again so often, and when the server stops.
constexpr std::chrono::seconds kAskEvery{1};
constexpr int kMostWatches = 64;

class HealthOfServer final : public HealthServant {
 public:
  explicit HealthOfServer(std::shared_ptr<const server::Readiness> readiness) noexcept
      : readiness_(std::move(readiness)) {}

  Report check(const std::string& service) override {
    const auto why = readiness_->why_not(service);
    if (!why) return {.state = State::unknown_service, .reasons = {}};
    return {.state = why->empty() ? State::serving : State::not_serving, .reasons = *why};
  }

  void watch(const std::string& service, StreamWriter<Report>& out) override {
    const Watching watching(watches_);
    const auto unwanted = current_call().stop_token();
    std::optional<Report> last;
    while (!unwanted.stop_requested()) {
      const bool over = readiness_->stops();  // before it is asked, so that the last value says so
      auto report = check(service);
      if (report != last) {
        if (!out.write(report)) return;
        out.flush();
        last = std::move(report);
      }
      if (over) return;
      readiness_->wait(unwanted, kAskEvery);
    }
  }

 private:
  /// One of the watches, each of which holds a thread of streams and asks all checks.
  class Watching {
   public:
    explicit Watching(std::atomic<int>& all) : all_(all) {
      if (all_.fetch_add(1) < kMostWatches) return;
      --all_;
      throw Error(Code::overloaded, Execution::not_executed,
                  "the health of this server has " + std::to_string(kMostWatches) +
                      " watches, the most that it takes: call check");
    }
    ~Watching() { --all_; }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

   private:
    std::atomic<int>& all_;
  };

  const std::shared_ptr<const server::Readiness> readiness_;
  std::atomic<int> watches_{0};
};

}  // namespace
}  // namespace mf::health

namespace mf::server {

std::shared_ptr<Servant> make_health(std::shared_ptr<const Readiness> readiness) {
  return std::make_shared<health::HealthOfServer>(std::move(readiness));
}

}  // namespace mf::server
