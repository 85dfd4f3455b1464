// Leader election: of all processes that ask a controller for the lead of a service and agent, one holds it
// at a time; the one that has waited longest is next.
//
//   mf::Lead lead = server.lead(*books, {.agent = "books"});     waits until this process leads
//   while (!lead.lost(1s)) write_down(lead.epoch(), …);
//
// A process may notice the loss of its lead later than the next leader gets it. Therefore resources that only
// the leader may change must refuse writers with a smaller epoch than they have seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "mf/core/async.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/candidacy.hpp"

namespace mf {

struct LeadOptions {
  /// As OfferOptions::agent.
  std::string agent{};
  /// Withdraws the candidacy: the wait ends as CANCELLED. It has no effect once the lead is held.
  std::stop_token stop{};
};

/// Thread-safe, except for moving. Destroying it gives up the lead; so does the end of its server.
class Lead {
 public:
  explicit Lead(std::shared_ptr<link::Candidacy> held) noexcept : candidacy_(std::move(held)) {}
  Lead(Lead&&) noexcept = default;
  Lead& operator=(Lead&& other) noexcept {
    std::swap(candidacy_, other.candidacy_);
    return *this;
  }
  ~Lead() { give_up(); }

  /// Larger than the epochs of all previous leaders.
  [[nodiscard]] std::uint64_t epoch() const { return candidacy_->epoch(); }
  /// Whether this process leads; another may lead before this one is notified.
  [[nodiscard]] bool held() const { return candidacy_->held(); }
  /// Waits until this process no longer leads.
  void lost() { (void)candidacy_->await_end(kNever); }
  /// The same for at most `timeout`. False: this process still leads.
  [[nodiscard]] bool lost(std::chrono::nanoseconds timeout) {
    return candidacy_->await_end(deadline_after(mf::now(), timeout));
  }
  /// Completes with Outcome<void> when this process no longer leads. The token's cancellation slot ends the
  /// wait as CANCELLED, but not the lead.
  template <class Token>
  auto async_lost(Token&& token) {
    return Completes<std::decay_t<Token>, void>::initiate(
        std::forward<Token>(token),
        [candidacy = candidacy_](Callback<void> done, const std::stop_token& stop = {}) {
          const auto wait = std::make_shared<link::EndWait>();
          wait->when_finished(detail::stopped_with(stop, detail::cancelling(wait), std::move(done)));
          candidacy->when_ended(wait);
        });
  }
  void give_up() noexcept {
    if (candidacy_) candidacy_->cancel();
  }

 private:
  std::shared_ptr<link::Candidacy> candidacy_;
};

}  // namespace mf
