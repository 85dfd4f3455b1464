// The rules of conformance.mfidl in C++, as a plain servant and as one that answers later.
// programs/servants.py is the same in Python.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "conformance.client.hpp"
#include "conformance.server.hpp"

namespace conformance_test {

/// Calls a room from within one, by a client that forwards "tenant". Set once the server has an address.
struct Nested {
  std::unique_ptr<mf::Client> client;
};

class PlainRoom final : public conformance::ShapesServant {
 public:
  PlainRoom(std::string name, std::shared_ptr<Nested> nested);

  std::int64_t twice(std::int64_t x) override;
  std::int64_t kept(std::int64_t x) override;
  std::int64_t put(std::int64_t x) override;
  void note(std::int64_t x) override;
  std::vector<std::string> log() override;
  void clear() override;
  std::uint32_t linger() override;
  void count(std::uint32_t to, std::uint32_t breaks_at, mf::StreamWriter<std::uint32_t>& out) override;
  void texts(std::uint32_t size, std::uint32_t number, mf::StreamWriter<std::string>& out) override;
  std::uint64_t sum(std::uint64_t start, mf::StreamReader<std::uint32_t>& values) override;
  std::uint32_t first(std::uint32_t number, mf::StreamReader<std::uint32_t>& values) override;
  void echo(mf::StreamReader<std::string>& values, mf::StreamWriter<std::string>& out) override;
  void endless(mf::StreamWriter<std::uint32_t>& out) override;
  std::vector<std::string> seen() override;
  void seen_stream(mf::StreamWriter<std::string>& out) override;
  std::vector<std::string> relay() override;

  void linger(const std::stop_token& token);
  void endless(const std::stop_token& token, mf::StreamWriter<std::uint32_t>& out);
  [[nodiscard]] conformance::ShapesClient itself() const;

 private:
  void write_down(const std::string& event);

  std::string name_;
  std::shared_ptr<Nested> nested_;
  std::mutex mutex_;
  std::vector<std::string> log_;
};

/// Answers what lasts from a thread of its own each, and what is nested by a completion.
class AsyncRoom final : public conformance::ShapesAsyncServant {
 public:
  AsyncRoom(std::string name, std::shared_ptr<Nested> nested);
  ~AsyncRoom() override;

  void twice(conformance::ShapesTwiceRequest request, mf::Responder<std::int64_t> responder) override;
  void kept(conformance::ShapesKeptRequest request, mf::Responder<std::int64_t> responder) override;
  void put(conformance::ShapesPutRequest request, mf::Responder<std::int64_t> responder) override;
  void note(conformance::ShapesNoteRequest request) override;
  void log(conformance::ShapesLogRequest request, mf::Responder<std::vector<std::string>> responder) override;
  void clear(conformance::ShapesClearRequest request, mf::Responder<void> responder) override;
  void linger(conformance::ShapesLingerRequest request, mf::Responder<std::uint32_t> responder) override;
  void count(conformance::ShapesCountRequest request, mf::StreamWriter<std::uint32_t> out,
             mf::Responder<void> responder) override;
  void texts(conformance::ShapesTextsRequest request, mf::StreamWriter<std::string> out,
             mf::Responder<void> responder) override;
  void sum(conformance::ShapesSumRequest request, mf::StreamReader<std::uint32_t> values,
           mf::Responder<std::uint64_t> responder) override;
  void first(conformance::ShapesFirstRequest request, mf::StreamReader<std::uint32_t> values,
             mf::Responder<std::uint32_t> responder) override;
  void echo(conformance::ShapesEchoRequest request, mf::StreamReader<std::string> values,
            mf::StreamWriter<std::string> out, mf::Responder<void> responder) override;
  void endless(conformance::ShapesEndlessRequest request, mf::StreamWriter<std::uint32_t> out,
               mf::Responder<void> responder) override;
  void seen(conformance::ShapesSeenRequest request,
            mf::Responder<std::vector<std::string>> responder) override;
  void seen_stream(conformance::ShapesSeenStreamRequest request, mf::StreamWriter<std::string> out,
                   mf::Responder<void> responder) override;
  void relay(conformance::ShapesRelayRequest request,
             mf::Responder<std::vector<std::string>> responder) override;

 private:
  template <class T, class Work>
  void later(mf::Responder<T> responder, Work work);

  PlainRoom plain_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

/// "plain" or "async".
[[nodiscard]] std::shared_ptr<mf::Servant> make_room(const std::string& kind, const std::string& name,
                                                     const std::shared_ptr<Nested>& nested);

}  // namespace conformance_test
