#pragma once
// R1. Which pairs of a program leave the bytes of values in febird as they are: widths of integers, names of
// fields and the like may differ.

#include <cstdint>
#include <vector>

#include "codec/described/numbers.hpp"
#include "mf/codec/described/program.hpp"

namespace mf::described {

/// Does a struct or union stand in febird as its fields do?
[[nodiscard]] inline bool is_febird(const Type& type) noexcept {
  return type.tier == Tier::febird;
}

/// Are numbers encoded alike? Integers of 2 bytes and more are, whatever their width is. A null pair leaves
/// them as they are.
[[nodiscard]] inline bool encoded_alike(const Pair* pair, const Type& from, const Type& to) noexcept {
  const auto is_integer = [](const Type& type) { return type.kind >= Kind::u8 && type.kind <= Kind::i64; };
  if (pair == nullptr || pair->rule == Rule::same) return true;
  return pair->rule == Rule::number && is_integer(from) && is_integer(to) &&
         (from.size == to.size || (from.row && to.row));
}

/// Such keys of a map stay in their order.
[[nodiscard]] inline bool has_texts_as_keys(const Program& program, const Pair* pair,
                                            const Type& map) noexcept {
  const Type& key = program.from->type(map.key);
  return (key.kind == Kind::string || key.kind == Kind::bytes) &&
         (pair == nullptr || program.pairs[pair->key].rule == Rule::same);
}

class Alike {
 public:
  explicit Alike(const Program& program) : program_(program), known_(program.pairs.size()) {}

  /// False also if that is not known in time.
  [[nodiscard]] bool operator()(PairIndex pair) { return look(pair, 0); }

 private:
  enum class Known : std::uint8_t { nothing, no, yes };

  [[nodiscard]] bool look(PairIndex index, unsigned depth);
  [[nodiscard]] bool has_alike_fields(PairIndex index, unsigned depth);
  [[nodiscard]] bool has_alike_elements(const Pair& pair, const Type& from, const Type& to, unsigned depth);

  const Program& program_;
  std::vector<Known> known_;  // by pair: of structs and unions
};

}  // namespace mf::described
