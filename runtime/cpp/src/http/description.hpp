// A service or a topic as one of its servers describes it, in the form that a client needs to call it. It is
// immutable, and outlives the calls that use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/problem.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/core/service.hpp"
#include "mf/link/method.hpp"
#include "mf/link/reply.hpp"
#include "mf/topics/described_topic.hpp"

namespace mf::http {

class Description {
 public:
  /// Throws Error(SCHEMA_MISMATCH) for a text that cannot be read.
  Description(std::string_view name, std::string text, std::string annex);
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  [[nodiscard]] const described::Schema& schema() const noexcept { return *schema_; }
  [[nodiscard]] const ServiceInfo& service() const noexcept { return service_; }
  /// Null for a service.
  [[nodiscard]] const topics::TopicInfo* topic() const noexcept { return topic_ ? &topic_->info() : nullptr; }

  /// The index of a method; nothing: the service has none of this name.
  [[nodiscard]] std::optional<std::size_t> method(std::string_view name) const noexcept;
  [[nodiscard]] const described::Method& at(std::size_t method) const noexcept {
    return schema_->methods()[method];
  }
  /// The form in which the runtime takes it. `idempotent`: the caller says so; descriptions do not.
  [[nodiscard]] const link::Method& link(std::size_t method, bool idempotent) const noexcept {
    return links_[2 * method + (idempotent ? 1 : 0)];
  }
  /// The tier of the arguments.
  [[nodiscard]] Tier request_tier(std::size_t method) const noexcept {
    return schema_->type(at(method).params).tier;
  }
  [[nodiscard]] Streams streams(std::size_t method) const noexcept { return infos_[2 * method].streams; }
  /// "sf1.search.Index.query"
  [[nodiscard]] std::string full_name(std::size_t method) const;

  /// The end of a call with one item.
  [[nodiscard]] Answer read(std::size_t method, const link::Reply& reply) const;

 private:
  [[nodiscard]] Answer read_result(std::size_t method, std::span<const std::byte> bytes) const;
  [[nodiscard]] Problem unreadable(std::size_t method, std::string_view why) const;
  [[nodiscard]] Problem declared(std::size_t method, std::size_t index,
                                 std::span<const std::byte> bytes) const;

  const std::string text_;
  const std::string annex_;
  std::optional<described::Schema> schema_;
  std::unique_ptr<topics::DescribedTopic> topic_;
  std::vector<std::string_view> names_;
  ServiceInfo service_;
  std::vector<MethodInfo> infos_;  // two of each method
  std::deque<link::Method> links_;
};

}  // namespace mf::http
