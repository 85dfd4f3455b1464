#include "mf/flex/process.hpp"

#include "flex/process_core.hpp"

namespace mf::flex {

void Registered::unregister() {
  if (const auto process = std::exchange(process_, nullptr)) process->remove_callback(registration_);
}

std::size_t Registered::calls() const {
  return process_ ? process_->counts(*registration_).first : registration_->calls;
}

std::size_t Registered::raised() const {
  return process_ ? process_->counts(*registration_).second : registration_->raised;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    if (core_) core_->leave();
    core_ = std::move(other.core_);
  }
  return *this;
}

Process::~Process() {
  if (core_) core_->leave();
}

const std::string& Process::name() const noexcept {
  return core_->name();
}

Sent Process::send(Attributes attributes, const SendOptions& options) {
  return core_->send(std::move(attributes), options);
}

void Process::start_send(const std::shared_ptr<ProcessCore>& core, Attributes&& attributes,
                         const SendOptions& options, Callback<Sent> done, const std::stop_token& stop) {
  core->async_send(std::move(attributes), options, std::move(done), stop);
}

void Process::start_recv(const std::shared_ptr<ProcessCore>& core, std::chrono::nanoseconds timeout,
                         const Pattern& pattern, Callback<Message> done, const std::stop_token& stop) {
  core->async_recv(Asked(pattern), timeout, to_string(pattern), std::move(done), stop);
}

std::vector<Undelivered> Process::undelivered() {
  return core_->undelivered();
}

std::optional<Message> Process::poll(std::chrono::nanoseconds timeout, const Pattern& pattern) {
  return core_->recv(Asked(pattern), deadline_after(mf::now(), timeout));
}

Message Process::recv(std::chrono::nanoseconds timeout, const Pattern& pattern) {
  auto found = poll(timeout, pattern);
  if (!found) throw core_->none_came(to_string(pattern), timeout);
  return std::move(*found);
}

std::optional<Message> Process::poll(const Pattern& pattern) {
  return core_->recv_now(Asked(pattern));
}

bool Process::peek(const Pattern& pattern) {
  return core_->peek(Asked(pattern));
}

Registered Process::on_message(std::function<void(const Message&)> function, const Pattern& pattern) {
  return {core_, core_->add_callback(std::move(function), Asked(pattern))};
}

std::size_t Process::waiting() const {
  return core_->waiting();
}

void Process::leave() {
  core_->leave();
}

}  // namespace mf::flex
