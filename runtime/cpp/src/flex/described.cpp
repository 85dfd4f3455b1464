#include "flex/described.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <variant>

#include "mf/values/conversion.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kMostKept = 256;  // pairs of versions

/// From one version to another one, or why there is no way.
using Made = std::variant<values::Conversion, Error>;
using MadeRef = std::shared_ptr<const Made>;

class Kept {
 public:
  using Key =
      std::tuple<Fingerprint, std::string, std::string>;  // own version; descriptor and annex of theirs

  MadeRef find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = made_.find(key);
    return found == made_.end() ? nullptr : found->second;
  }
  void add(Key&& key, MadeRef made) {
    const std::scoped_lock lock(mutex_);
    if (made_.size() >= kMostKept) made_.clear();
    made_.emplace(std::move(key), std::move(made));
  }

  static Kept& of_process() {
    static Kept& kept = *new Kept;  // for good: threads may end after statics do
    return kept;
  }

 private:
  std::mutex mutex_;
  std::map<Key, MadeRef> made_;
};

MadeRef make(const std::string& name, const TypeTexts& own, const TypeTexts& theirs) {
  try {
    return std::make_shared<const Made>(std::in_place_type<values::Conversion>, name, own, theirs);
  } catch (const Error& refused) {
    return std::make_shared<const Made>(refused);
  }
}

class Described final : public DescribedType {
 public:
  explicit Described(const TypeTexts& texts) : texts_(texts) {}

  [[nodiscard]] const TypeTexts& texts() const noexcept override { return texts_; }

  [[nodiscard]] Bytes convert(const Bytes& data, std::string_view name, const Fingerprint& fingerprint,
                              const TypeTexts& own) const override {
    const auto words = "a value of another version of " + std::string(name);
    Kept::Key key{fingerprint, texts_.descriptor, texts_.annex};
    auto made = Kept::of_process().find(key);
    if (made == nullptr) {
      made = make(words, own, texts_);
      Kept::of_process().add(std::move(key), made);
    }
    if (const auto* const refused = std::get_if<Error>(made.get())) throw *refused;
    const auto& conversion = std::get<values::Conversion>(*made);
    if (conversion.same()) return data;
    Buffer out;
    if (const auto why = conversion.run(data.span(), out))
      throw Error(Code::decode_error, Execution::not_executed, words + ": " + *why);
    return Bytes(std::move(out));
  }

 private:
  const TypeTexts texts_;
};

}  // namespace

bool Told::add(const Fingerprint& fingerprint, const TypeTexts& texts) {
  const auto size = texts.descriptor.size() + texts.annex.size();
  if (types_.size() >= kMostTypes || size > kMostBytes - bytes_ || types_.contains(fingerprint)) return false;
  bytes_ += size;
  types_.emplace(fingerprint, std::make_shared<const Described>(texts));
  return true;
}

}  // namespace mf::flex
