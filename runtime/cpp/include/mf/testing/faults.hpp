// What goes wrong with the connections to one place in memory, at the n-th operation, the same each time.
//
//   mf::testing::Faults faults("shop");                      for memory:shop; a Channel brings its own
//   faults.refuse();                                         the next connect
//   faults.cut(Operation::request, 3);                       before the third request from now on
//   faults.drop(Operation::reply, 1, seconds(30));           the next reply is lost, and 30 s pass
//
// Operations are counted over all connections to the place, in the order in which they happen; each fault
// counts from the moment at which it was set. A frame is one that is written: HELLO and BIND count, too, so
// requests and replies are the better names where a test means those.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace mf::testing {

enum class Operation : std::uint8_t {
  connect,
  write,    // a frame of the client
  read,     // a frame of the server
  request,  // a REQUEST among them
  reply,    // a REPLY among them
};

class Faults {
 public:
  /// As long as this lives; `name` is what follows "memory:" in the address.
  explicit Faults(const std::string& name);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// The n-th attempt to connect, and with `times` those behind it, fails.
  void refuse(std::size_t nth = 1, std::size_t times = 1);
  /// The connection ends in place of the n-th frame.
  void cut(Operation what, std::size_t nth = 1);
  /// The n-th frame is lost, and all that its sender writes to this connection behind it. Then so much time
  /// passes, at most until the connection has ended, which needs a FakeClock; so it does below.
  void stall(Operation what, std::size_t nth = 1, std::chrono::nanoseconds passes = {});
  /// The n-th frame is lost.
  void drop(Operation what, std::size_t nth = 1, std::chrono::nanoseconds passes = {});
  /// So much time passes before the n-th frame is written.
  void delay(Operation what, std::chrono::nanoseconds passes, std::size_t nth = 1);

  /// How many there have been.
  [[nodiscard]] std::size_t seen(Operation what) const;

 private:
  class Guard;

  const std::shared_ptr<Guard> guard_;
};

}  // namespace mf::testing
