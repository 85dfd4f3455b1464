#include "mf/monitor/exposition.hpp"

#include <charconv>
#include <cmath>

namespace mf::monitor {
namespace {

std::string_view name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::gauge:
      return "gauge";
    case Kind::counter:
      return "counter";
    case Kind::histogram:
      return "histogram";
  }
  return "unknown";
}

void append_number(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value);
  text.append(std::begin(digits), end.ptr);
}

/// Of a label's value, or of a help text without the quotes.
void append_escaped(std::string& text, std::string_view value, bool quotes) {
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) text += '\\';
    text += c;
  }
}

}  // namespace

void Exposition::family(std::string_view name, Kind kind, std::string_view help) {
  family_ = name;
  kind_ = kind;
  auto shown = family_;
  if (kind == Kind::counter && format_ == Format::prometheus) shown += "_total";
  text_ += "# HELP " + shown + ' ';
  append_escaped(text_, help, format_ == Format::open_metrics);
  text_ += "\n# TYPE " + shown + ' ';
  text_ += name_of(kind);
  text_ += '\n';
}

void Exposition::sample(Labels labels, double value) {
  line(kind_ == Kind::counter ? "_total" : "", labels, {}, value);
}

void Exposition::sample(Labels labels, std::span<const Bucket> buckets, std::uint64_t count, double sum) {
  for (const auto& bucket : buckets) {
    std::string bound;
    append_number(bound, bucket.bound);
    line("_bucket", labels, bound, static_cast<double>(bucket.count));
  }
  line("_bucket", labels, "+Inf", static_cast<double>(count));
  line("_sum", labels, {}, sum);
  line("_count", labels, {}, static_cast<double>(count));
}

void Exposition::gauge(std::string_view name, std::string_view help, double value) {
  family(name, Kind::gauge, help);
  sample({}, value);
}

void Exposition::counter(std::string_view name, std::string_view help, double value) {
  family(name, Kind::counter, help);
  sample({}, value);
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view bound, double value) {
  text_ += family_;
  text_ += suffix;
  char before = '{';
  const auto label = [&](std::string_view name, std::string_view of) {
    text_ += before;
    text_ += name;
    text_ += "=\"";
    append_escaped(text_, of, true);
    text_ += '"';
    before = ',';
  };
  for (const auto& [name, of] : labels) label(name, of);
  if (!bound.empty()) label("le", bound);
  text_ += before == '{' ? " " : "} ";
  append_number(text_, value);
  text_ += '\n';
}

std::string Exposition::text() && {
  if (format_ == Format::open_metrics) text_ += "# EOF\n";
  return std::move(text_);
}

std::string_view Exposition::content_type(Format format) noexcept {
  return format == Format::open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace mf::monitor
