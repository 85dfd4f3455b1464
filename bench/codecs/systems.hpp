// The libraries of the bench, each in a file of its own.
#pragma once

#include "codec.hpp"

namespace bench_codecs {

void register_memory(Entries& entries);
void register_mf(Entries& entries);
void register_mf_views(Entries& entries);
void register_mf_archive(Entries& entries);
void register_hashes(Entries& entries);
void register_boost(Entries& entries);
void register_cereal(Entries& entries);
void register_protobuf(Entries& entries);
void register_flatbuffers(Entries& entries);
void register_avro(Entries& entries);
void register_header_only(Entries& entries);

}  // namespace bench_codecs
