#include "mf/server/readiness.hpp"

#include "mf/core/error.hpp"

namespace mf::server {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Code::invalid_argument, Execution::not_executed, why);
}

/// The text in one line, with single spaces.
std::string in_one_line(std::string_view text) {
  std::string line;
  bool space = false;
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      space = !line.empty();
      continue;
    }
    if (space) line += ' ';
    space = false;
    line += c;
  }
  return line;
}

}  // namespace

void Readiness::add_check(const std::string& name, Check check, std::string service) {
  if (!check) refuse("the check '" + name + "' is empty");
  auto known = std::make_shared<const Known>(Known{std::move(check), std::move(service)});
  const std::scoped_lock lock(mutex_);
  if (!checks_.emplace(name, std::move(known)).second) refuse("there is a check '" + name + "' already");
}

void Readiness::remove_check(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (checks_.erase(name) == 0) refuse("there is no check '" + name + "'");
}

std::optional<std::vector<std::string>> Readiness::why_not(std::string_view service) const {
  if (!service.empty() && !offers_(service)) return std::nullopt;
  auto why = own_();
  std::map<std::string, std::shared_ptr<const Known>> checks;
  {
    const std::scoped_lock lock(mutex_);
    checks = checks_;
  }
  for (const auto& [name, known] : checks) {
    if (!known->service.empty() && known->service != service) continue;
    try {
      if (const auto text = in_one_line(known->check()); !text.empty()) why.push_back(name + ": " + text);
    } catch (...) {
      log_escaped_exception(log_, "the check " + name);
      why.push_back(name + ": threw");
    }
  }
  return why;
}

void Readiness::stop() {
  const std::scoped_lock lock(mutex_);
  stops_ = true;
  changed_.notify_all();
}

bool Readiness::stops() const {
  const std::scoped_lock lock(mutex_);
  return stops_;
}

// In real time, also under a test clock: what is asked is not moved by it.
void Readiness::wait(const std::stop_token& unwanted, std::chrono::nanoseconds longest) const {
  std::unique_lock lock(mutex_);
  (void)changed_.wait_for(lock, unwanted, longest, [this] { return stops_; });
}

}  // namespace mf::server
