#include <utility>

#include "mf/core/failure.hpp"
#include "mf/values/conversion.hpp"
#include "mf/values/reader.hpp"
#include "values/file.hpp"
#include "values/form.hpp"

namespace mf::values {
struct Reading::State {
  State(Source source, std::string name_of_file, const TypeTexts& own, const std::string& was)
      : name(std::move(name_of_file)), records(std::move(source)) {
    if (const auto wrong = records.begin(texts)) throw told(*wrong);
    if (own.descriptor == texts.descriptor) return;
    conversion.emplace(name, own, texts, was);
    if (conversion->same()) conversion.reset();
  }

  [[nodiscard]] Error told(const FormError& wrong) const {
    return failed(name, wrong.words, wrong.of_system ? Code::unavailable : Code::decode_error);
  }

  [[nodiscard]] Failure failure(const std::string& words, Code code = Code::decode_error) const {
    return make_failure(
        code, kNoCall,
        name + ": value " + std::to_string(number) + " at byte " + std::to_string(offset) + ": " + words);
  }

  [[nodiscard]] Outcome<std::span<const std::byte>> converted(std::span<const std::byte> bytes) {
    if (!conversion) return bytes;
    out.clear();
    if (const auto why = conversion->run(bytes, out)) return failure(*why);
    return std::span<const std::byte>(out.span());
  }

  std::string name;
  Records records;
  TypeTexts texts;
  std::optional<const Conversion> conversion;  // none: the bytes are of the same schema
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
