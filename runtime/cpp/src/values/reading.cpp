#include <string_view>
#include <utility>

#include "mf/codec/described/transcode.hpp"
#include "mf/evolution/plan.hpp"
#include "mf/values/reader.hpp"
#include "values/file.hpp"
#include "values/form.hpp"

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

struct Reading::State {
  State(Source source, std::string name_of_file, const TypeTexts& own, const std::string& was)
      : name(std::move(name_of_file)), records(std::move(source)) {
    if (const auto wrong = records.begin(texts)) throw told(*wrong);
    if (own.descriptor == texts.descriptor) return;
    plan = std::make_unique<const evolution::Plan>(plan_of(name, own, texts, was));
    if (plan->value != described::kNone) transcoder.emplace(plan->results);
  }

  [[nodiscard]] Error told(const FormError& wrong) const {
    return failed(name, wrong.words, wrong.of_system ? Code::unavailable : Code::decode_error);
  }

  [[nodiscard]] Failure failure(const std::string& words, Code code = Code::decode_error) const {
    return {.code = code,
            .execution = Execution::not_executed,
            .message = name + ": value " + std::to_string(number) + " at byte " + std::to_string(offset) +
                       ": " + words,
            .declared = nullptr};
  }

  [[nodiscard]] Outcome<std::span<const std::byte>> converted(std::span<const std::byte> bytes) {
    if (!transcoder) return bytes;
    codec::Reader reader(bytes);
    out.clear();
    const auto went = transcoder->run(plan->value, reader, out);
    if (went == Went::not_over && reader.finish()) {
      const auto& error = transcoder->error();
      auto reason = error.reason;
      if (const auto at = reason.find('@'); at != std::string::npos) reason.replace(at, 1, kSide);
      return failure(error.path.empty() ? reason : error.path + ": " + reason);
    }
    if (went == Went::broken) return failure(transcoder->error().message());
    if (!reader.finish()) return failure(reader.error().message());
    return std::span<const std::byte>(out.span());
  }

  std::string name;
  Records records;
  TypeTexts texts;
  std::unique_ptr<const evolution::Plan> plan;  // null: the bytes are of the same schema
  std::optional<described::Transcoder> transcoder;
  Buffer out;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
  bool ended = false;
  bool is_cut = false;
};

Reading::Reading(Source source, std::string name, const TypeTexts& own, const std::string& was)
    : state_(std::make_unique<State>(std::move(source), std::move(name), own, was)) {}
Reading::Reading(Reading&&) noexcept = default;
Reading& Reading::operator=(Reading&&) noexcept = default;
Reading::~Reading() = default;

std::optional<Outcome<std::span<const std::byte>>> Reading::next() {
  auto& state = *state_;
  if (state.ended) return std::nullopt;
  state.number = state.records.number();
  state.offset = state.records.offset();
  std::optional<std::span<const std::byte>> bytes;
  if (const auto wrong = state.records.next(bytes)) {
    state.ended = true;
    state.is_cut = wrong->cut;
    return Outcome<std::span<const std::byte>>(state.told(*wrong));
  }
  state.ended = !bytes;
  if (state.ended) return std::nullopt;
  return state.converted(*bytes);
}

Failure Reading::malformed(const DecodeError& error) const {
  return state_->failure(error.message(), error.code);
}

const TypeTexts& Reading::texts() const noexcept {
  return state_->texts;
}
std::uint64_t Reading::number() const noexcept {
  return state_->records.number();
}
std::uint64_t Reading::offset() const noexcept {
  return state_->records.offset();
}
bool Reading::is_cut() const noexcept {
  return state_->is_cut;
}

}  // namespace mf::values
