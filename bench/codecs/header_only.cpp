// The library that MF_BENCH_HEADER_ONLY names, through its adapter (adapters/README.md).
#include "fields.hpp"
#include "systems.hpp"
#include "works.hpp"
// Must follow the headers that it uses.
#include MF_BENCH_ADAPTER

namespace bench_codecs {

void register_header_only(Entries& entries) {
  add_works<Adapter>(entries, MF_BENCH_ADAPTER_NAME);
}

}  // namespace bench_codecs
