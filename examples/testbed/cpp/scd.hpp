// Reads SCD, the report's document format: records of "<DOCID>" number, "<Title>" text, "<Content>" text, in
// this order, each tag opening a line. A text runs on over the lines that follow, up to the next tag; white
// space around it does not count.
//
// corpus/scd.py specifies the format in full. Stops at the first mistake and names its line: what is half
// read must not be indexed.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "testbed/document.hpp"

namespace testbed {

class ScdError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ScdError for a file that cannot be opened, or is not SCD.
[[nodiscard]] std::vector<document::Document> read_scd(const std::string& path);

}  // namespace testbed
