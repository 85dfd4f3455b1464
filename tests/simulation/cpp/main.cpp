// Runs seeds of the simulation of the C++ runtime (docs/simulation.md), each in a process of its own.
//
//   simulate --first 0 --count 1000      each seed once; the first one that breaks a rule ends it
//   simulate --seed 7                    one seed, twice: both runs are the same
//   simulate --seed 7 --faults 0,3       with these of its faults only (none: without any)
//   simulate --seed 7 --log              prints all that happened
//   simulate --topics --seed 7           the runs of topics, likewise
//   simulate --seed 7 --log --look 1500  and what each thread waits for after so many milliseconds
//   simulate --waits                     no run: a waiting thread does nothing, and is woken at once
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "network.hpp"
#include "plan.hpp"
#include "record.hpp"
#include "scheduler.hpp"
#include "topics_record.hpp"
#include "waits.hpp"
#include "world.hpp"

namespace {

using simulated::Fault;
using simulated::Plan;

std::optional<simulated::Time> look_at;
bool topics = false;
// Seconds of the processor, for a run that never comes to an end, and of the machine, for one that hangs.
constexpr rlim_t kMostWork = 60;
constexpr unsigned kLongest = 900;

/// In a child: does the work, on a scheduler that has begun, and writes what it gave. Does not return.
[[noreturn]] void run_here(std::uint64_t seed, const std::function<void()>& work, int to) {
  auto& scheduler = simulated::scheduler();
  const auto tell = [to, &scheduler](bool log) {
    scheduler.leave_alone();  // what is written may tell that nothing can be done any more
    std::ostringstream text;
    for (const auto& each : simulated::broken(simulated::record())) text << "!" << each << '\n';
    for (const auto& each : simulated::broken(simulated::topics_record())) text << "!" << each << '\n';
    if (log) {
      for (const auto& line : simulated::record().lines) text << " " << line << '\n';
      text << " " << simulated::scheduler().switches() << " switches of threads\n";
    }
    const auto all = text.str();
    std::size_t sent = 0;
    while (sent < all.size()) {
      const auto size = ::write(to, all.data() + sent, all.size() - sent);
      if (size <= 0) break;
      sent += static_cast<std::size_t>(size);
    }
    ::_exit(0);
  };
  const rlimit most{.rlim_cur = kMostWork, .rlim_max = kMostWork};
  (void)::setrlimit(RLIMIT_CPU, &most);
  ::alarm(kLongest);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
  (void)::sched_setaffinity(0, sizeof one, &one);  // threads run in turn: on one processor that is quicker
  scheduler.stuck = [&](const std::string& text) {
    simulated::record().trouble(text);
    tell(true);
  };
  scheduler.begin(seed);
  if (look_at) {
    scheduler.at(scheduler.now() + *look_at * simulated::kMillisecond,
                 [&] { simulated::record().write("the threads:" + scheduler.all_threads()); });
  }
  simulated::network().begin();
  work();
  tell(true);
  ::_exit(0);
}

struct Result {
  std::vector<std::string> broken;
  std::string log;
};

Result run(std::uint64_t seed, const std::function<void()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const auto child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run_here(seed, work, ends[1]);
  }
  ::close(ends[1]);
  std::string all;
  char bytes[65'536];
  for (ssize_t size = 0; (size = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    all.append(bytes, static_cast<std::size_t>(size));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  Result result;
  if (WIFSIGNALED(status))
    result.broken.push_back("the process ended by signal " + std::to_string(WTERMSIG(status)));
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('!')) result.broken.push_back(line.substr(1));
    if (line.starts_with(' ')) result.log += line.substr(1) + '\n';
  }
  return result;
}

Result run(const Plan& plan, const std::vector<std::size_t>& chosen) {
  std::vector<Fault> faults;
  for (const auto each : chosen) faults.push_back(plan.faults.at(each));
  return run(plan.seed, [&] { simulated::World(plan).run(faults); });
}

int report_waits() {
  int result = 0;
  for (const auto look : {simulated::late_waits, simulated::restless_publisher}) {
    const auto found = run(0, [look] {
      for (const auto& each : look()) simulated::record().trouble(each);
    });
    for (const auto& each : found.broken) std::cout << each << '\n';
    if (!found.broken.empty()) result = 1;
  }
  if (result == 0) std::cout << "a waiting thread does nothing, and is woken at once\n";
  return result;
}

std::vector<std::size_t> without(const std::vector<std::size_t>& all, std::size_t at, std::size_t count) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < at || i >= at + count) rest.push_back(all[i]);
  }
  return rest;
}

/// The shortest list of faults found that still breaks a rule: delta debugging.
std::vector<std::size_t> shrunk(const Plan& plan, std::vector<std::size_t> chosen) {
  for (std::size_t size = std::max<std::size_t>(chosen.size() / 2, 1); !chosen.empty();) {
    bool smaller = false;
    for (std::size_t at = 0; at < chosen.size() && !smaller; at += size) {
      const auto rest = without(chosen, at, size);
      if (run(plan, rest).broken.empty()) continue;
      chosen = rest;
      smaller = true;
    }
    if (smaller) continue;
    if (size == 1) break;
    size = size / 2;
  }
  return chosen;
}

int report(std::uint64_t seed, const std::optional<std::vector<std::size_t>>& given) {
  const auto plan = simulated::plan_of(seed, topics);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < plan.faults.size(); ++i) all.push_back(i);
  if (given) all = *given;
  const auto show = [](const Result& result) {
    for (std::size_t i = 0; i < std::min<std::size_t>(result.broken.size(), 10); ++i)
      std::cout << "  " << result.broken[i] << '\n';
  };
  const auto result = run(plan, all);
  if (result.broken.empty()) {
    std::cout << "seed " << seed << " keeps all rules\n";
    return 0;
  }
  std::cout << "seed " << seed << " breaks rules with " << all.size() << " faults:\n";
  show(result);
  const auto fewest = shrunk(plan, all);
  std::cout << "the shortest list of faults that breaks any (" << fewest.size() << "):\n";
  std::string numbers;
  for (const auto each : fewest) {
    std::cout << "  " << each << ": " << plan.faults[each].str() << '\n';
    numbers += (numbers.empty() ? "" : ",") + std::to_string(each);
  }
  show(run(plan, fewest));
  std::cout << "replay: tests/simulation/replay --cpp " << (topics ? "--topics " : "") << "--seed " << seed
            << " --faults " << (numbers.empty() ? "none" : numbers) << " --log\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::optional<std::uint64_t> seed;
  std::optional<std::vector<std::size_t>> faults;
  bool log = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--log") {
      log = true;
      continue;
    }
    if (option == "--topics") {
      topics = true;
      continue;
    }
    if (option == "--waits") return report_waits();
    ++i;
    if (option == "--first") first = std::stoull(value);
    if (option == "--count") count = std::stoull(value);
    if (option == "--seed") seed = std::stoull(value);
    if (option == "--look") look_at = std::stoll(value);
    if (option == "--faults") {
      faults.emplace();
      std::istringstream numbers(value == "none" ? "" : value);
      for (std::string number; std::getline(numbers, number, ',');) faults->push_back(std::stoull(number));
    }
  }
  if (!seed) {
    for (auto each = first; each < first + count; ++each) {
      const auto plan = simulated::plan_of(each, topics);
      std::vector<std::size_t> all;
      for (std::size_t i = 0; i < plan.faults.size(); ++i) all.push_back(i);
      if (!run(plan, all).broken.empty()) return report(each, {});
    }
    std::cout << count << " seeds from " << first << " on keep all rules\n";
    return 0;
  }
  const auto plan = simulated::plan_of(*seed, topics);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < plan.faults.size(); ++i) all.push_back(i);
  if (faults) all = *faults;
  const auto one = run(plan, all);
  const auto other = run(plan, all);
  if (log) std::cout << one.log;
  if (one.log != other.log) {
    std::cout << "seed " << *seed << " gives two different runs\n";
    return 2;
  }
  return report(*seed, faults);
}
