// Every type of tests/vectors/schemas/wide.mfidl, and of custom.mfidl beside it: compiled once, for all that
// tests or fuzzes them.
#pragma once

#include <string_view>
#include <vector>

#include "subject.hpp"

namespace mf::codec {

/// In the order of wide_types.inc.
const std::vector<Subject>& subjects();

/// Those of custom.mfidl (custom_subjects.cpp).
const std::vector<Subject>& custom_subjects();

/// One of either by its name.
const Subject& subject_of(std::string_view type);

}  // namespace mf::codec
