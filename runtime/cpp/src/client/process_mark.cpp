#include "mf/client/process_mark.hpp"

#include <pthread.h>

namespace mf::client {

constinit std::atomic<std::uint32_t> forks{0};

namespace {

// Registered before main(): a mark that is made before this belongs to the same process all the same.
[[maybe_unused]] const int registered =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace
}  // namespace mf::client
