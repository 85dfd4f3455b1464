// The file of a controller's store: whatever it is, records and damages lie within it, one after the other.
// With way 1 the records that were found are written to a new file, which is whole.

#include <cstdint>
#include <vector>

#include "controller/record_file.hpp"
#include "in_cpp/input.hpp"
#include "targets.hpp"

namespace fuzz {

bool records(std::span<const std::byte> input) {
  const auto file = rest_of(input);
  const auto found = mf::controller::scan_records(file);
  const std::byte* behind = file.data();
  for (const auto& each : found.records) {
    require(each.payload.data() >= behind);
    behind = each.payload.data() + each.payload.size();
  }
  require(behind <= file.data() + file.size());
  for (const auto& each : found.damages) require(each.offset <= file.size() && !each.what.empty());
  if (found.version != mf::controller::kStoreVersion) return false;

  mf::controller::RecordWriter writer(7);
  std::vector<std::byte> copy;
  writer.header(copy);
  for (const auto& each : found.records) writer.record(copy, each.payload);
  const auto again = mf::controller::scan_records(copy);
  require(again.damages.empty() && again.records.size() == found.records.size());
  return found.damages.empty();
}

}  // namespace fuzz
