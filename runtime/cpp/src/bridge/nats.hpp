// JetStream of NATS as an engine: a stream keeps the records of a topic under one subject, and a durable
// consumer how far each reader has come.
//
// A reader has two consumers, "NAME_a" and "NAME_b", of which one is used. A new reader makes the other one,
// which starts behind what was acknowledged at the first, and then removes that. So what was delivered and
// not acknowledged is read again at once and in order, where a consumer would send it late and behind newer
// records; and a second reader of the same name ends the first.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "bridge/nats_session.hpp"
#include "mf/bridge/engine.hpp"

namespace mf::bridge::nats {

class NatsWriter final : public Writer {
 public:
  explicit NatsWriter(std::unique_ptr<Session> session);
  [[nodiscard]] std::size_t append(std::span<const Record> records, TimePoint until,
                                   Refusal& refusal) override;

 private:
  [[nodiscard]] std::size_t send(std::span<const Record> records, TimePoint until, Refusal& refusal);
  [[nodiscard]] natsStatus publish(const Record& record, const std::string& id, const std::string& before,
                                   std::size_t number);
  [[nodiscard]] std::size_t number_of(natsMsg* message) const;
  void listen();

  const std::unique_ptr<Session> session_;
  std::string inbox_;
  Subscription answers_;
  std::uint64_t sending_ = 0;
  bool again_ = false;  // what was not appended may be sent again at once
};

class NatsReader final : public Reader {
 public:
  NatsReader(std::unique_ptr<Session> session, const std::string& name);
  [[nodiscard]] std::vector<Read> read(std::size_t most, TimePoint until) override;
  void keep(const Offsets& read) override;

 private:
  struct Delivered {
    std::uint64_t stream = 0;  // number in the stream
    std::string reply{};       // where it is acknowledged
  };
  void open();
  /// Null: there is none.
  [[nodiscard]] ConsumerInfo look(const std::string& consumer) const;
  void make(const std::string& consumer, std::uint64_t from);
  void remove(const std::string& consumer) const;
  void listen();
  void ask(std::size_t most);
  [[nodiscard]] bool next(std::vector<Read>& records, TimePoint until);
  void look_after();
  [[nodiscard]] bool take(natsMsg* message, std::vector<Read>& into);

  const std::unique_ptr<Session> session_;
  const std::pair<std::string, std::string> names_;
  std::string consumer_;  // the one that is used
  std::string inbox_;
  Subscription subscription_;
  std::size_t awaited_ = 0;  // messages that it was asked for
  TimePoint awaited_until_{};
  TimePoint looked_at_{};
  std::uint64_t reconnects_ = 0;
  std::deque<Delivered> delivered_;  // and not acknowledged
  std::uint64_t read_ = 0;           // the last that read() has returned
  std::uint64_t consumer_read_ = 0;  // counted by the consumer
};

}  // namespace mf::bridge::nats
