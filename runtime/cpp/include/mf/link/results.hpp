// The outcomes of many items without their type: code that sends, awaits and answers batches uses these, so
// that it is compiled once and not for every type of results.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "mf/core/answer.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/interceptor.hpp"
#include "mf/core/outcome.hpp"

namespace mf::link {

class Results : public ItemOutcomes {
 public:
  Results() = default;
  virtual ~Results() = default;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  [[nodiscard]] virtual bool all_ok() const noexcept = 0;
  virtual void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) = 0;
  /// Moves from `outcome`, an Outcome<Result>.
  virtual void set(std::size_t item, void* outcome) = 0;
  /// Changes the number of items: the existing outcomes move to these places, or stay if `places` is empty;
  /// surplus ones are dropped.
  virtual void remap(std::size_t items, std::span<const std::size_t> places) = 0;
  /// The underlying Outcomes<Result>.
  [[nodiscard]] virtual void* all() noexcept = 0;

  // For interceptors:

  /// Moves out the outcome of one item, and back; another type than Result becomes a failure.
  [[nodiscard]] virtual Answer take(std::size_t item) = 0;
  virtual void put(std::size_t item, Answer&& answer) = 0;
  /// The same for all items together, as Outcomes<Result>. A failure becomes that of `items` items.
  [[nodiscard]] virtual Answer take_all() = 0;
  virtual void put_all(std::size_t items, Answer&& answer) = 0;
  /// So many outcomes of the same type that are not set yet.
  [[nodiscard]] virtual std::unique_ptr<Results> another(std::size_t items) const = 0;
  /// The end of a call whose only item this is.
  [[nodiscard]] virtual CallEnd end_of_only() const noexcept = 0;

  void fail_all(const std::shared_ptr<const Failure>& failure) {
    for (std::size_t item = 0; item < size(); ++item) fail(item, failure);
  }
};

template <class Result>
class ResultsOf final : public Results {
 public:
  explicit ResultsOf(std::size_t items) : outcomes_(items) {}

  [[nodiscard]] std::size_t size() const noexcept override { return outcomes_.size(); }
  [[nodiscard]] bool all_ok() const noexcept override {
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i].ok()) return false;
    }
    return true;
  }
  [[nodiscard]] const Failure* failure(std::size_t item) const noexcept override {
    return outcomes_[item].ok() ? nullptr : &outcomes_[item].failure();
  }
  [[gnu::cold]] void fail(std::size_t item, const std::shared_ptr<const Failure>& failure) override {
    outcomes_[item] = Outcome<Result>(failure);
  }
  void set(std::size_t item, void* outcome) override {
    outcomes_[item] = std::move(*static_cast<Outcome<Result>*>(outcome));
  }
  [[gnu::cold]] void remap(std::size_t items, std::span<const std::size_t> places) override {
    Outcomes<Result> all(items);
    const std::size_t most = places.empty() ? items : places.size();
    for (std::size_t i = 0; i < outcomes_.size() && i < most; ++i) {
      all[places.empty() ? i : places[i]] = std::move(outcomes_[i]);
    }
    outcomes_.swap(all);
  }
  [[nodiscard]] void* all() noexcept override { return &outcomes_; }
  [[nodiscard]] Answer take(std::size_t item) override { return Answer(std::move(outcomes_[item])); }
  void put(std::size_t item, Answer&& answer) override {
    outcomes_[item] = std::move(answer).template take<Result>();
  }
  [[nodiscard]] Answer take_all() override { return Answer::of(std::move(outcomes_)); }
  void put_all(std::size_t items, Answer&& answer) override {
    auto all = std::move(answer).template take<Outcomes<Result>>();
    if (all.ok()) {
      outcomes_ = std::move(all).value();
    } else {
      outcomes_ = Outcomes<Result>(items, Outcome<Result>(mf::detail::shared(all.failure())));
    }
  }
  [[nodiscard]] std::unique_ptr<Results> another(std::size_t items) const override {
    return std::make_unique<ResultsOf>(items);
  }
  [[nodiscard]] CallEnd end_of_only() const noexcept override {
    return mf::detail::end_of(outcomes_.front());
  }

  [[nodiscard]] Outcomes<Result>& outcomes() noexcept { return outcomes_; }
  [[nodiscard]] const Outcomes<Result>& outcomes() const noexcept { return outcomes_; }

 private:
  Outcomes<Result> outcomes_;
};

/// Holds results for a class whose base refers to them; as an earlier base it is constructed first.
template <class Result>
struct HoldsResults {
  explicit HoldsResults(std::size_t items) : of_type_(items) {}

  ResultsOf<Result> of_type_;
};

}  // namespace mf::link
