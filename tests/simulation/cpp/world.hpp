// The processes of a run: servers, clients, the controller and perhaps a relay, all of them the product's,
// each with threads that belong to it (scheduler.hpp).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "plan.hpp"

namespace simulated {

class World {
 public:
  explicit World(const Plan& plan) : plan_(plan) {}

  /// From the start of all processes to their end. `faults`: those that happen.
  void run(const std::vector<Fault>& faults);

 private:
  struct Process {
    int number = 0;
    bool asked_to_stop = false;
    bool ended = false;
    bool is_client = false;
    bool worked = false;  // a client: all its steps have ended
    std::thread main;
  };

  void start(const std::string& name);
  void serve(Process& process, int server);
  void control(Process& process);
  void hand_on(Process& process);
  void call(Process& process, std::size_t client);
  void begin(const Fault& fault);
  void note_troubles(const std::vector<Fault>& faults);
  void start_later(const std::string& name, Time after);
  [[nodiscard]] Time often() const;
  [[nodiscard]] int number_of(const std::string& name) const;
  [[nodiscard]] bool alive(const Process& process) const { return !scheduler().killed(process.number); }
  void heal(const std::vector<Fault>& faults);
  void await_messages();
  void end();
  static void wait_until(const std::function<bool()>& done, Time most, const char* what);

  const Plan& plan_;
  std::deque<Process> processes_;
  std::map<std::string, Process*> by_name_;  // the latest of each
  std::deque<std::string> to_start_;
  std::set<std::string> troubled_;  // hosts that faults are about
  bool all_is_well_ = false;
};

}  // namespace simulated
