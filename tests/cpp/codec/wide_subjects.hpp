// The files of tests/vectors/wide, and every type of their schema under one interface: compiled once, for all
// tests of them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/value.hpp"

namespace mf::codec {

/// One vector by its keys, as tests/vectors/README.md names them.
using Vector = std::map<std::string, std::string>;

/// Those of tests/vectors/wide/<file>.json.
std::vector<Vector> load(const std::string& file);

/// What is done with one type.
struct Subject {
  std::function<Result<Bytes>(std::string_view text)> write;
  std::function<Result<std::string>(std::span<const std::byte> bytes)> read;
  std::function<Result<Bytes>(std::span<const std::byte> bytes)> rewrite;
};

/// `type` is a full name: "vectors.wide.Person".
const Subject& subject_of(const std::string& type);

}  // namespace mf::codec
