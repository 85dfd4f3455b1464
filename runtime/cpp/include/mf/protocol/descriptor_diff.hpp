#pragma once
// Describes how two descriptors of one service differ, in the words of protocol.md section 7: users read it
// when a client and a server were generated from different schemas. The texts may come from a peer: any text
// is accepted and none is trusted, and the answer has at most 8 sentences.

#include <string>
#include <string_view>

namespace mf::protocol {

/// Empty if they do not differ. "Index.query: field Hit.score: f32 here, string there; …"
[[nodiscard]] std::string descriptor_difference(std::string_view here, std::string_view there);

}  // namespace mf::protocol
