// bench-codecs: runs the measurements that bench/pycodecs/measure.py requests over stdin, until stdin ends.
//
//   <- works                     prints the names of the works, on one line
//   <- work NAME                 prepares it for every library, and checks a round trip of each
//   -> {"mf/febird": 266, …}     the size in bytes of each result
//   <- run SYSTEM STEP           measures one step:
//   -> 81.5                      nanoseconds, of the fastest of a few short batches; "none" if it has no
//                                such step
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "codec.hpp"
#include "systems.hpp"

namespace bench_codecs {
namespace {

constexpr double kBatchNs = 3e5;
constexpr double kRunNs = 3e6;  // no further batch starts after this time
constexpr int kBatches = 7;

/// A large request makes glibc merge the small pieces that were freed, so a value's memory is allocated in
/// order, and not in the holes that the previously measured library has left.
void settle() {
  void* const memory = std::malloc(std::size_t{1} << 20U);
  keep(memory);
  std::free(memory);
}

/// Processor time of this thread, so that other work on the core does not count.
[[nodiscard]] double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

[[nodiscard]] double ns_of(Codec& codec, Step step, std::size_t times) {
  const double start = now_ns();
  codec.run(step, times);
  return now_ns() - start;
}

class Prepared {
 public:
  explicit Prepared(std::unique_ptr<Codec> codec) : codec_(std::move(codec)) {}

  [[nodiscard]] Codec& codec() { return *codec_; }

  [[nodiscard]] double measure(Step step) {
    settle();
    auto& times = times_[step];
    if (times == 0) times = enough(step);
    double best = ns_of(*codec_, step, times);
    double spent = best;
    for (int i = 1; i < kBatches && spent < kRunNs; ++i) {
      const double ns = ns_of(*codec_, step, times);
      best = std::min(best, ns);
      spent += ns;
    }
    return best / static_cast<double>(times);
  }

 private:
  /// Returns how many repetitions make a batch long enough; the search also warms up.
  [[nodiscard]] std::size_t enough(Step step) {
    for (std::size_t times = 1;; times *= 2) {
      if (ns_of(*codec_, step, times) > kBatchNs / 2) return times;
    }
  }

  std::unique_ptr<Codec> codec_;
  std::map<Step, std::size_t> times_;
};

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "bench-codecs: " << why << '\n';
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(Entries entries) : entries_(std::move(entries)) {}

  void works() const {
    std::string line;
    for (const Entry& entry : entries_) {
      if (line.find(' ' + entry.work + ' ') == std::string::npos) line += ' ' + entry.work + ' ';
    }
    std::puts(line.c_str());
  }

  void work(const std::string& name) {
    prepared_.clear();
    std::string line;
    for (const Entry& entry : entries_) {
      if (entry.work != name) continue;
      settle();
      auto codec = entry.make();
      if (const char* mistake = codec->mistake()) {
        give_up(entry.system + " at " + name + ": " + mistake);
      }
      line += (line.empty() ? "{\"" : ", \"") + entry.system + "\": " + std::to_string(codec->bytes());
      prepared_.emplace(entry.system, std::move(codec));
    }
    std::puts(line.empty() ? "{}" : (line + '}').c_str());
  }

  void run(const std::string& system, const std::string& step_name) {
    static const std::map<std::string, Step> kSteps = {{"serialize", Step::serialize},
                                                       {"serialize_fresh", Step::serialize_fresh},
                                                       {"deserialize", Step::deserialize},
                                                       {"deserialize_into", Step::deserialize_into}};
    const auto found = prepared_.find(system);
    const auto step = kSteps.find(step_name);
    if (found == prepared_.end() || step == kSteps.end() || !found->second.codec().does(step->second)) {
      std::puts("none");
      return;
    }
    std::printf("%.3f\n", found->second.measure(step->second));
  }

 private:
  Entries entries_;
  std::map<std::string, Prepared> prepared_;
};

int obey() {
  Entries entries;
  register_memory(entries);
  register_mf(entries);
  register_mf_views(entries);
  register_mf_archive(entries);
  register_hashes(entries);
#ifdef MF_BENCH_BOOST
  register_boost(entries);
#endif
#ifdef MF_BENCH_PROTOBUF
  register_protobuf(entries);
#endif
#ifdef MF_BENCH_CEREAL
  register_cereal(entries);
#endif
#ifdef MF_BENCH_FLATBUFFERS
  register_flatbuffers(entries);
#endif
#ifdef MF_BENCH_AVRO
  register_avro(entries);
#endif
#ifdef MF_BENCH_HEADER_ONLY
  register_header_only(entries);
#endif
  Bench bench(std::move(entries));
  for (std::string command; std::cin >> command; std::fflush(stdout)) {
    std::string name;
    std::string step;
    if (command == "works") {
      bench.works();
    } else if (command == "work" && std::cin >> name) {
      bench.work(name);
    } else if (command == "run" && std::cin >> name >> step) {
      bench.run(name, step);
    } else {
      give_up("unknown command " + command);
    }
  }
  return 0;
}

}  // namespace
}  // namespace bench_codecs

int main() {
  // Freed memory stays with the process, so that large objects do not pay for new pages in some libraries and
  // not in others.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
  try {
    return bench_codecs::obey();
  } catch (const std::exception& error) {
    std::cerr << "bench-codecs: " << error.what() << '\n';
    return 1;
  }
}
