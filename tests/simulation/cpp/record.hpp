// What happened in a run, in order: what handlers ran, and how calls, items and streams ended at their
// callers; and the rules that every run keeps, which are about nothing else.
//
// Threads run one at a time (scheduler.hpp), so nothing here has a lock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "mf/core/outcome.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"

namespace simulated {

/// One run of a handler.
struct Run {
  std::uint64_t call = 0;
  std::string method;
  int process = 0;
  std::uint64_t connection = 0;
  Time began = 0;
  bool ended = false;
  std::string order_of;  // of a one-way call: whose
  std::uint32_t order = 0;
};

/// A call, an item of a batch, a scattered call or a stream, as its caller sees it.
struct Asked {
  std::uint64_t call = 0;
  std::string method;
  int process = 0;
  Time began = 0;
  Time limit = 0;  // when it has to have ended: its deadline, or when it is given up
  Time slack = 0;
  bool refuse = false;
  std::uint32_t size = 0;

  int ends = 0;
  Time ended = 0;
  mf::Outcome<std::uint64_t> end{mf::Failure{}};
  std::vector<std::uint64_t> values;  // what a stream gave
  int after_end = 0;                  // values that came behind a stream's end
};

class Record {
 public:
  std::deque<Run> runs;
  std::map<std::uint64_t, Asked> asked;
  std::vector<std::string> lines;     // all of it in words: a run that is repeated has the same
  std::vector<std::string> troubles;  // what the run itself found wrong

  Run& begin(std::uint64_t call, const char* method);
  void end(Run& run);
  Asked& ask(const char* method, Time deadline, std::optional<Time> gives_up_after);
  void end(Asked& asked, mf::Outcome<std::uint64_t> end);
  void write(const std::string& line);
  void trouble(const std::string& text) { troubles.push_back(text); }

 private:
  std::uint64_t calls_ = 0;
};

[[nodiscard]] Record& record() noexcept;

/// What breaks the rules, in words.
[[nodiscard]] std::vector<std::string> broken(const Record& record);

}  // namespace simulated
