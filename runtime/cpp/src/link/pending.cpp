#include "mf/link/pending.hpp"

#include <algorithm>
#include <cstring>

#include "mf/protocol/frame.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::link {
namespace {

// Memory for payloads of completions that is kept between turns.
constexpr std::size_t kKeptAtMost = std::size_t{256} << 10U;

}  // namespace

void FinishedList::make_room(std::size_t calls) {
  if (items_.capacity() - items_.size() < calls)
    items_.reserve(std::max(items_.size() + calls, items_.capacity() * 2));
}

void FinishedList::keep(Finished& item) {
  const auto payload = item.reply.payload;
  item.kept_at = kept_.size();
  std::memcpy(kept_.append(protocol::padded(payload.size())), payload.data(), payload.size());
  item.kept_size = payload.size();
}

// Exceptions of completions have no receiver, and the other completions must still run.
void FinishedList::run(const transport::Reactor& reactor) noexcept {
  for (auto& item : items_) {
    if (item.kept_size != 0) item.reply.payload = {kept_.data() + item.kept_at, item.kept_size};
    try {
      item.done(std::move(item.reply));
    } catch (...) {
      reactor.log_exception("the completion of a call");
    }
    item.done = nullptr;
    if (!item.reply.owner.empty()) item.reply.owner.clear();  // its memory may be released now
  }
  items_.clear();
  kept_.clear();
}

void FinishedList::shrink() noexcept {
  if (kept_.capacity() > kKeptAtMost) kept_ = Buffer();
}

}  // namespace mf::link
