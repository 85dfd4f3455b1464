// Metrics as text, in the format of Prometheus or of OpenMetrics.
//
//     exposition.gauge("mf_server_connections", "Open connections.", 3);
//     exposition.family("mf_server_calls", Kind::counter, "Calls that ended.");
//     exposition.sample({{"service", "demo.Echo"}, {"code", "OK"}}, 7);
//
// Names and units are those of OpenMetrics: a counter is named without "_total", which its samples get.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace mf::monitor {

enum class Kind : std::uint8_t { gauge, counter, histogram };
enum class Format : std::uint8_t { prometheus, open_metrics };

class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  /// A bucket of a histogram: how many observations were at most `bound`, those of smaller bounds included.
  struct Bucket {
    double bound = 0;
    std::uint64_t count = 0;
  };

  explicit Exposition(Format format) : format_(format) {}

  /// Begins a family; its samples follow. Each family is begun once.
  void family(std::string_view name, Kind kind, std::string_view help);
  void sample(Labels labels, double value);
  /// A sample of a histogram. `count`: of all observations, the last bucket's or more.
  void sample(Labels labels, std::span<const Bucket> buckets, std::uint64_t count, double sum);

  /// A family of one sample.
  void gauge(std::string_view name, std::string_view help, double value);
  void counter(std::string_view name, std::string_view help, double value);

  /// All that was written, with the end that the format asks for.
  [[nodiscard]] std::string text() &&;
  /// As HTTP names the format.
  [[nodiscard]] static std::string_view content_type(Format format) noexcept;

 private:
  void line(std::string_view suffix, Labels labels, std::string_view bound, double value);

  const Format format_;
  std::string family_;
  Kind kind_ = Kind::gauge;
  std::string text_;
};

/// The figures of this process: processor time, memory, descriptors, start.
void expose_process(Exposition& out);

}  // namespace mf::monitor
