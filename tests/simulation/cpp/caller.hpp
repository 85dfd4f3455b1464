// What one thread of a client does in a run: each step of its plan, written down as it begins and as it ends.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan.hpp"
#include "record.hpp"
#include "simulation.client.hpp"

namespace simulated {

class Caller {
 public:
  /// `number`: unlike that of any other thread of this or another client.
  Caller(mf::Client& client, std::uint32_t number);

  /// The steps one after the other; asynchronous ones go on beside the next. Returns when all have ended.
  void work(const std::vector<Step>& steps);
  /// When all is well again, a call succeeds at each place.
  void probe();

 private:
  class Pending;

  simulation::WorkClient stub_;
  const std::uint32_t number_;
  std::map<std::string, std::uint32_t> orders_;

  void take(const Step& step, Pending& pending);
  void single(const Step& step, const mf::CallOptions& options, Asked& asked);
  void tell(const Step& step, const mf::CallOptions& options);
  void async(const Step& step, const mf::CallOptions& options, Pending& pending);
  void batch(const Step& step, const mf::CallOptions& options);
  void bulk(const Step& step, const mf::CallOptions& options);
  void scatter(const Step& step, const mf::CallOptions& options);
  void down(const Step& step, const mf::CallOptions& options, std::uint32_t most);
  void up(const Step& step, const mf::CallOptions& options);
  void both(const Step& step, const mf::CallOptions& options);
};

}  // namespace simulated
