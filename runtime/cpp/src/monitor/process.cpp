// What the system says of this process.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "mf/monitor/exposition.hpp"

namespace mf::monitor {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// When the system was started, in seconds since 1970.
double boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    if (double at = 0; word == "btime" && file >> at) return at;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// The start of this process in ticks since then; see proc(5).
double start_ticks() {
  std::ifstream file("/proc/self/stat");
  std::string all(std::istreambuf_iterator<char>(file), {});
  const auto name_end = all.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(all.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) {
  }
  return field.empty() ? 0 : std::strtod(field.c_str(), nullptr);
}

}  // namespace

void expose_process(Exposition& out) {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    out.counter("process_cpu_seconds", "Processor time of the process, of users and system.",
                seconds(used.ru_utime) + seconds(used.ru_stime));
  std::size_t pages = 0;
  std::size_t resident = 0;
  if (std::ifstream memory("/proc/self/statm"); memory >> pages >> resident) {
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    out.gauge("process_virtual_memory_bytes", "Size of the address space.",
              static_cast<double>(pages) * page);
    out.gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.",
              static_cast<double>(resident) * page);
  }
  std::error_code failed;
  double open = 0;
  for (auto at = std::filesystem::directory_iterator("/proc/self/fd", failed);
       !failed && at != std::filesystem::directory_iterator(); at.increment(failed))
    ++open;
  if (!failed) out.gauge("process_open_fds", "Open file descriptors.", open);
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) == 0)
    out.gauge("process_max_fds", "How many file descriptors the process may open.",
              static_cast<double>(most.rlim_cur));
  static const double started = boot_time() + start_ticks() / static_cast<double>(::sysconf(_SC_CLK_TCK));
  out.gauge("process_start_time_seconds", "When the process was started, since 1970.", started);
}

}  // namespace mf::monitor
