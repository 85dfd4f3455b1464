// A controller whose callers are simulated by the test.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "controller/offers.hpp"
#include "controller/secret.hpp"
#include "mf/controller/controller.hpp"
#include "mf/core/current_call.hpp"
#include "support/wait.hpp"

namespace mf::controller {

using namespace std::chrono_literals;
using namespace testing_offers;

/// One call and its caller: answers, written values, and whether there is room for more.
template <class T>
class Caller final : public detail::Sink<T>, public detail::CallHandle {
 public:
  [[nodiscard]] static Responder<void> responder(const std::shared_ptr<Caller>& self) {
    return Responder<void>([self](Outcome<void>&& given) { self->ended.emplace(std::move(given)); });
  }

  bool write(const T& /*value*/) override { return false; }
  void async_write(const T& value, Callback<bool> done) override {
    values.push_back(value);
    if (reads) return done(true);
    waiting = std::move(done);
  }
  void flush() override {}

  std::stop_token stop_token() override { return gone.get_token(); }
  bool cancelled() noexcept override { return gone.stop_requested(); }
  const Metadata& metadata() noexcept override { return none; }
  void set_reply_metadata(std::string_view /*key*/, std::string_view /*value*/) override {}
  void keep_alive(std::chrono::milliseconds after) override { dead_after = after; }

  /// Reads all values, and continues reading.
  void read() {
    reads = true;
    if (auto done = std::exchange(waiting, nullptr)) done(true);
  }
  void leave() { gone.request_stop(); }
  [[nodiscard]] bool open() const { return !ended.has_value(); }
  [[nodiscard]] Code code() const { return ended->failure().code; }

  bool reads = true;
  std::vector<T> values;
  std::optional<Outcome<void>> ended;
  std::chrono::milliseconds dead_after{};
  Metadata none;
  std::stop_source gone;

 private:
  Callback<bool> waiting;
};

template <class T>
using Stream = std::shared_ptr<Caller<T>>;

template <class T>
struct Answer {
  std::shared_ptr<std::optional<Outcome<T>>> outcome = std::make_shared<std::optional<Outcome<T>>>();

  [[nodiscard]] Responder<T> responder() const {
    return Responder<T>([to = outcome](Outcome<T>&& given) { to->emplace(std::move(given)); });
  }
  [[nodiscard]] bool ok() const { return (*outcome)->ok(); }
  [[nodiscard]] auto value() const { return (*outcome)->value(); }
  [[nodiscard]] const Failure& failure() const { return (*outcome)->failure(); }
};

struct ControllerTest : testing::Test {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<Store> store = std::make_shared<MemoryStore>();
  std::shared_ptr<mftest::KeptLog> log = std::make_shared<mftest::KeptLog>();
  Identity identity;  // of the callers whose streams start
  Controller controller{options()};

  [[nodiscard]] ControllerOptions options() const {
    ControllerOptions options;
    options.store = store;
    options.clock = clock;
    options.own_thread = false;
    options.asleep_after = 0ms;
    options.max_offers_per_host = Registry::kMaxOffers;  // one host is many here
    options.log = Log(log);
    return options;
  }

  /// Starts a stream as if it came over that connection.
  template <class T, class Call>
  Stream<T> over(std::uint64_t connection, Call&& call, Stream<T> caller = std::make_shared<Caller<T>>()) {
    CallInfo info;
    info.connection = connection;
    const std::string peer = "tcp://peer:" + std::to_string(connection);
    info.peer = peer;
    info.of_peer = &identity;
    info.handle.set(caller.get());
    const CallScope scope(info);
    call(StreamWriter<T>(caller), Caller<T>::responder(caller));
    return caller;
  }
  Stream<Standing> add_as(Controller& at, std::uint64_t connection, const Credential& who,
                          std::vector<Offer> offers) {
    return over<Standing>(connection, [&](StreamWriter<Standing> out, Responder<void> responder) {
      at.register_({who, "p" + std::to_string(who.nonce.bytes[0]), std::move(offers)}, std::move(out),
                   std::move(responder));
    });
  }
  Stream<Standing> add(std::uint64_t connection, std::uint8_t process, std::vector<Offer> offers) {
    return add_as(controller, connection, who(process), std::move(offers));
  }
  Stream<Change> watch(const Filter& what, std::uint64_t run = 0, std::uint64_t revision = 0,
                       std::uint64_t connection = 99,
                       Stream<Change> caller = std::make_shared<Caller<Change>>()) {
    return over<Change>(
        connection,
        [&](StreamWriter<Change> out, Responder<void> responder) {
          controller.watch({what, run, revision}, std::move(out), std::move(responder));
        },
        std::move(caller));
  }
  Stream<Change> watch_at(Controller& at, const Filter& what) {
    return over<Change>(99, [&](StreamWriter<Change> out, Responder<void> responder) {
      at.watch({what, 0, 0}, std::move(out), std::move(responder));
    });
  }
  Stream<Lead> lead(std::uint64_t connection, std::uint8_t process, const Key& what) {
    return over<Lead>(connection, [&](StreamWriter<Lead> out, Responder<void> responder) {
      controller.lead({who(process), what}, std::move(out), std::move(responder));
    });
  }
  Answer<void> update(const Credential& who, std::vector<Offer> put, std::vector<Key> remove = {}) {
    Answer<void> answer;
    controller.update({who, std::move(put), std::move(remove)}, answer.responder());
    return answer;
  }
  Answer<void> deregister(const Credential& who) {
    Answer<void> answer;
    controller.deregister({who}, answer.responder());
    return answer;
  }
  [[nodiscard]] static std::vector<std::string> found(Controller& at, const Filter& what) {
    Answer<Found> answer;
    at.find({what}, answer.responder());
    return shown(answer.value().instances);
  }
  [[nodiscard]] std::vector<std::string> found(const std::string& name) {
    return found(controller, filter(name));
  }
  void pass(std::chrono::nanoseconds time) {
    clock->advance(time);
    controller.tick();
  }
};

}  // namespace mf::controller
