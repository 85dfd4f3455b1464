#pragma once
// Two descriptors of one service, and how they differ, in the words of protocol.md section 7: what a user
// reads when a client and a server were generated from different schemas. The texts may come from a peer:
// anything is read, nothing is believed, and the answer is at most 8 sentences.

#include <string>
#include <string_view>

namespace mf::protocol {

/// Empty if they do not differ. "Index.query: field Hit.score: f32 here, string there; …"
[[nodiscard]] std::string descriptor_difference(std::string_view here, std::string_view there);

}  // namespace mf::protocol
