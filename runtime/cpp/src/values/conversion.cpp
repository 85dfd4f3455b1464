#include "mf/values/conversion.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "mf/codec/described/transcode.hpp"
#include "values/file.hpp"

namespace mf::values {
namespace {

using described::Schema;
using described::Went;

constexpr std::string_view kSide = "the reader's schema";

std::shared_ptr<const Schema> schema_of(const TypeTexts& texts, const std::string& name) {
  auto read = Schema::read(texts.descriptor, texts.annex);
  std::string wrong;
  if (!read) {
    wrong = read.error().message();
  } else if (read->of() != Schema::Of::value) {
    wrong = std::string("its descriptor is of a ") +
            (read->of() == Schema::Of::service ? "service" : "topic") + ", not of a value";
  } else {
    return std::make_shared<const Schema>(*std::move(read));
  }
  throw failed(name, "what it says of its schema cannot be read: " + wrong);
}

evolution::Plan plan_of(const std::string& name, const TypeTexts& own, const TypeTexts& theirs,
                        const std::string& was) {
  const auto there = schema_of(theirs, name);
  const auto here = schema_of(own, name);
  const auto wanted = was.empty() ? std::string(here->name()) : was;
  if (there->name() != wanted)
    throw failed(name, "a file of " + std::string(there->name()) + ", not of " + wanted,
                 Code::schema_mismatch);
  auto plan = evolution::make_plan(here, there);
  if (!plan.refusal.empty()) throw failed(name, plan.refusal, Code::schema_mismatch);
  return plan;
}

}  // namespace

Conversion::Conversion(const std::string& name, const TypeTexts& own, const TypeTexts& theirs,
                       const std::string& was)
    : plan_(plan_of(name, own, theirs, was)) {}

std::optional<std::string> Conversion::run(std::span<const std::byte> bytes, Buffer& out) const {
  described::Transcoder transcoder(plan_.results);
  codec::Reader reader(bytes);
  const auto went = transcoder.run(plan_.value, reader, out);
  if (went == Went::not_over && reader.finish()) {
    const auto& error = transcoder.error();
    auto reason = error.reason;
    if (const auto at = reason.find('@'); at != std::string::npos) reason.replace(at, 1, kSide);
    return error.path.empty() ? reason : error.path + ": " + reason;
  }
  if (went == Went::broken) return transcoder.error().message();
  if (!reader.finish()) return reader.error().message();
  return std::nullopt;
}

}  // namespace mf::values
