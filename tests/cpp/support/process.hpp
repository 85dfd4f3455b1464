// A child process with its standard output and error; it is killed with its object.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace mftest {

class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    if (::pipe2(out_.data(), O_CLOEXEC) != 0 || ::pipe2(err_.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out_[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err_[1], 2);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out_[1]);
    ::close(err_[1]);
    if (failed != 0) throw std::runtime_error("cannot run " + arguments[0]);
  }
  ~Process() {
    kill(SIGKILL);
    (void)wait();
    ::close(out_[0]);
    ::close(err_[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void kill(int signal) const {
    if (!ended_) ::kill(pid_, signal);
  }
  /// Stops it until SIGCONT; returns when none of its threads runs any more.
  void freeze() const {
    kill(SIGSTOP);
    siginfo_t info{};
    if (!ended_) (void)::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT);
  }
  void thaw() const { kill(SIGCONT); }
  /// The exit status as waitpid() gives it.
  int wait() {
    if (!ended_) ::waitpid(pid_, &status_, 0);
    ended_ = true;
    return status_;
  }
  std::string out_line() { return line(out_[0]); }
  std::string err_line() { return line(err_[0]); }

 private:
  static std::string line(int fd) {
    std::string line;
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    char c = 0;
    while (::poll(&entry, 1, 20'000) == 1 && ::read(fd, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }

  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
  std::array<int, 2> out_{};
  std::array<int, 2> err_{};
};

}  // namespace mftest
