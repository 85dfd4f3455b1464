// The files of tests/vectors/wide.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mf::codec {

/// One vector by its keys, as tests/vectors/README.md names them.
using Vector = std::map<std::string, std::string>;

/// Those of tests/vectors/wide/<file>.json.
std::vector<Vector> load(const std::string& file);

}  // namespace mf::codec
