// Runs the steps of table.py against rooms. programs/client.py is the same in Python.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "conformance.client.hpp"
#include "words.hpp"

namespace conformance_test {

class Caller {
 public:
  /// `open` opens one more client of the same rooms, whose cached calls grow old by the clock.
  using Open = std::function<mf::Client(std::shared_ptr<const mf::Clock> clock)>;
  explicit Caller(Open open);

  /// What is observed. Throws std::out_of_range: there is no such verb.
  [[nodiscard]] Json run(Words words);

 private:
  [[nodiscard]] Json log(std::size_t events);
  [[nodiscard]] Json cancel_call();
  [[nodiscard]] Json close_client(const std::string& agent);
  [[nodiscard]] Json streamed(const Words& words);
  [[nodiscard]] Json written(const Words& words);
  [[nodiscard]] Json called(Words& words);
  [[nodiscard]] Json cached(const Words& words);
  /// Until the room has logged so many events.
  void wait_for_log(std::size_t events);

  Open open_;
  std::shared_ptr<mf::ManualClock> clock_ = std::make_shared<mf::ManualClock>();
  mf::Client client_;
  conformance::ShapesClient stub_;
  conformance::ShapesClient to_;  // the agent of this step
};

}  // namespace conformance_test
