// The text analysis (LA in the report) as a servant. No state, so any number of threads.
#pragma once

#include <string>
#include <vector>

#include "testbed/text.server.hpp"
#include "tokens.hpp"

namespace testbed {

class Analyzer final : public text::AnalyzerServant {
 public:
  std::vector<std::string> tokens(const std::string& text) override { return testbed::tokens(text); }
};

}  // namespace testbed
