// Reads the files of `mf record` in tests, so that a recorded fault becomes a test (docs/testing.md).
//
//   using namespace shop::methods;                                     shop.hpp, generated
//   mf::testing::RecordedCalls calls("report.rec", {kShopService});
//   while (const auto call = calls.next()) {
//     if (!call->is<ShopFind>()) continue;
//     const auto request = call->request<ShopFind>().value();
//     EXPECT_EQ(shop.find(request.word), call->result<ShopFind>());
//   }
//   mf::testing::RecordedMessages<shop::Sold> sales("sales.rec");
//   while (const auto message = sales.next()) till.sold(message->value);
//
// A file is read line by line, and values are read by the schema of the test: a field with a default may be
// missing, and a field that the schema does not have is refused. A last line that was cut is left out.
//
// All functions throw Error(INVALID_ARGUMENT) for a file that cannot be read or is no recording, and
// Error(DECODE_ERROR) for a value that does not fit the schema. The errors name the path and the line. After
// a next() has thrown, that reader returns nothing more.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/json.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/error.hpp"
#include "mf/core/service.hpp"

namespace mf::testing {

/// The description of a service when its calls were recorded.
struct RecordedDescription {
  std::string service;
  std::string descriptor;
  std::string annex;
};

/// One call. request() and result() read `arguments` and `value`, which are JSON, and empty if they were not
/// recorded.
struct RecordedCall {
  std::string path;                  // of the file
  std::size_t line = 0;              // in the file, from 1
  std::chrono::nanoseconds began{};  // since the first call began
  std::chrono::nanoseconds took{};   // until its handler had ended
  std::string service;               // full name
  std::string method;
  std::string agent;
  Code code = Code::ok;
  std::string error;    // of a failure, in words
  bool stream = false;  // of a method with a stream, whose values are not recorded
  std::optional<std::string> arguments;
  std::optional<std::string> value;
  std::shared_ptr<const RecordedDescription> description;  // of the service; null if it was not known

  template <class M>
  [[nodiscard]] bool is() const {
    return service == M::kService.name && method == M::kInfo.name;
  }
  /// The arguments as the generated request; nothing if they were not recorded. Throws
  /// Error(INVALID_ARGUMENT) for a call of another method, Error(DECODE_ERROR) for arguments that do not fit
  /// the schema or are nested too deep.
  template <class M>
  [[nodiscard]] std::optional<typename M::Request> request() const;
  /// The result of a call that succeeded; nothing if it was not recorded. Throws as request() does.
  template <class M>
    requires(!std::is_void_v<typename M::Result>)
  [[nodiscard]] std::optional<typename M::Result> result() const;
};

/// The calls of services in a recording of `mf record --calls`, in the order in which they began; a call that
/// lasted longer than the 1,024 calls after it comes later. Calls of other services are left out.
class RecordedCalls {
 public:
  RecordedCalls(std::string path, std::initializer_list<std::reference_wrapper<const ServiceInfo>> services);
  ~RecordedCalls();
  RecordedCalls(RecordedCalls&& other) noexcept;
  RecordedCalls& operator=(RecordedCalls&& other) noexcept;

  /// The next call; nothing if there are no more. Throws Error(INVALID_ARGUMENT) for a method that its
  /// service does not have.
  [[nodiscard]] std::optional<RecordedCall> next();

 private:
  class State;

  std::unique_ptr<State> state_;
};

/// One message of a topic.
template <class T>
struct RecordedMessage {
  std::chrono::nanoseconds since_first{};
  std::string agent;
  T value{};
};

namespace detail {

class MessageLines {
 public:
  explicit MessageLines(std::string path);
  ~MessageLines();
  MessageLines(MessageLines&& other) noexcept;
  MessageLines& operator=(MessageLines&& other) noexcept;

  /// The next message, with its value as JSON; nothing if there are no more.
  [[nodiscard]] std::optional<RecordedMessage<std::string>> next();
  /// Throws Error(DECODE_ERROR) for the value of the line that was read last.
  [[noreturn]] void refuse(const codec::DecodeError& error);
  /// What the recording says of its topic.
  [[nodiscard]] const RecordedDescription& description() const noexcept;

 private:
  class State;

  std::unique_ptr<State> state_;
};

/// Arguments or a result as bytes in the tier of the method, by the schema of the test.
[[nodiscard]] std::vector<std::byte> request_bytes(const RecordedCall& call, const ServiceInfo& service,
                                                   const MethodInfo& method);
[[nodiscard]] std::vector<std::byte> result_bytes(const RecordedCall& call, const ServiceInfo& service,
                                                  const MethodInfo& method);
[[noreturn]] void refuse_value(const RecordedCall& call, const codec::DecodeError& error);

}  // namespace detail

/// The messages of a recording of `mf record`, in order, with values of the type that the topic has in the
/// test's generated code.
template <class T>
class RecordedMessages {
 public:
  explicit RecordedMessages(std::string path) : lines_(std::move(path)) {}

  /// The next message; nothing if there are no more.
  [[nodiscard]] std::optional<RecordedMessage<T>> next() {
    auto line = lines_.next();
    if (!line) return std::nullopt;
    auto value = from_json<T>(line->value);
    if (!value) lines_.refuse(value.error());
    return RecordedMessage<T>{line->since_first, std::move(line->agent), *std::move(value)};
  }
  [[nodiscard]] const RecordedDescription& description() const noexcept { return lines_.description(); }

 private:
  detail::MessageLines lines_;
};

template <class M>
std::optional<typename M::Request> RecordedCall::request() const {
  if (!arguments) return std::nullopt;
  const auto bytes = detail::request_bytes(*this, M::kService, M::kInfo);
  codec::Reader reader(bytes);
  std::optional<typename M::Request> request(std::in_place);
  if (!codec::decode_items<M::kRequestTier>(reader, &*request, 1) || !reader.finish())
    detail::refuse_value(*this, reader.error());
  return request;
}

template <class M>
  requires(!std::is_void_v<typename M::Result>)
std::optional<typename M::Result> RecordedCall::result() const {
  if (!value) return std::nullopt;
  const auto bytes = detail::result_bytes(*this, M::kService, M::kInfo);
  codec::Reader reader(bytes);
  std::optional<typename M::Result> result(std::in_place);
  if (!codec::decode<M::kResultTier>(reader, *result) || !reader.finish())
    detail::refuse_value(*this, reader.error());
  return result;
}

}  // namespace mf::testing
