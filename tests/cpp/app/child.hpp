#pragma once
// A program that runs as a child process, with its outputs in pipes. It is killed at the end of the test in
// any case.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mf::app {

class Child {
 public:
  static constexpr std::chrono::seconds kPatience{20};

  explicit Child(std::vector<std::string> arguments) {
    const auto out = pipe();
    const auto err = pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
    if (failed != 0) throw std::runtime_error("cannot start " + arguments[0]);
  }
  ~Child() {
    if (pid_ > 0 && !status_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  /// One line of standard output, without its newline; the incomplete line if the output ended or took too
  /// long.
  std::string line() { return read(out_, true); }
  /// The same of standard error.
  std::string error_line() { return read(err_, true); }
  std::string all_output() { return read(out_, false); }
  std::string all_errors() { return read(err_, false); }

  /// The exit code, 128 + n if a signal ended it, nothing if it still runs.
  std::optional<int> wait() {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!status_ && std::chrono::steady_clock::now() < until) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_)
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return status_;
  }

 private:
  static std::array<int, 2> pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return ends;
  }

  static std::string read(int fd, bool one_line) {
    std::string text;
    pollfd poll{fd, POLLIN, 0};
    const int patience = static_cast<int>(std::chrono::milliseconds(kPatience).count());
    char c = 0;
    while (::poll(&poll, 1, patience) > 0 && ::read(fd, &c, 1) == 1) {
      if (one_line && c == '\n') break;
      text += c;
    }
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> status_;
};

}  // namespace mf::app
