// The seed's stream benchmark for us and for the limit, which hands a `shared_ptr<const T>` from thread to
// thread, or a copy of the value.
//
//   stream raw|mf share|copy|write SUBSCRIBERS SIZE COUNT
//       share  all read one value
//       copy   each subscriber has a copy of its own
//       write  one of the subscribers changes what it gets, the others read
#include "stream.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "mf/topics/topics.hpp"
#include "samples.topics.hpp"

namespace bench_topics {
namespace {

using Record = samples::Record;

/// How many messages may wait for a subscriber, for all systems.
std::uint32_t bound(std::size_t size) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(1'024, (std::size_t{8} << 20U) / size));
}

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t most) : most_(most) {}
  void push(T value) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return queue_.size() < most_; });
    queue_.push_back(std::move(value));
    if (queue_.size() == 1) ready_.notify_one();
  }
  void take_all(std::deque<T>& into) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !queue_.empty(); });
    into.swap(queue_);
    room_.notify_one();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable ready_;
  std::deque<T> queue_;
};

template <class T>
void raw(const Stream& stream, const Record& record, const T& value, bool writes) {
  std::deque<BoundedQueue<T>> queues;
  for (std::size_t i = 0; i < stream.subscribers; ++i) queues.emplace_back(bound(stream.size));
  measure(
      stream,
      [&] {
        for (std::uint64_t number = 0; number < stream.count; ++number) {
          for (auto& queue : queues) queue.push(value);
        }
      },
      [&](std::size_t number) {
        std::deque<T> taken;
        for (std::uint64_t came = 0; came < stream.count; came += taken.size()) {
          taken.clear();
          queues[number].take_all(taken);
          for (const auto& each : taken) {
            if constexpr (std::is_same_v<T, Record>) {
              check(each.fields.size() == record.fields.size(), "a wrong record");
            } else if (writes && number == 0) {
              Record mine = *each;
              mine.number = came;
              check(mine.fields.size() == record.fields.size(), "a wrong record");
            } else {
              check(each->fields.size() == record.fields.size(), "a wrong record");
            }
          }
        }
      });
}

void mf_stream(const Stream& stream, const std::shared_ptr<const Record>& record, const std::string& way) {
  const mf::Topics topics;
  samples::RecordsPublisher publisher(topics);
  std::deque<samples::RecordsSubscriber> subscribers;
  for (std::size_t i = 0; i < stream.subscribers; ++i)
    subscribers.emplace_back(topics,
                             mf::SubscribeOptions{.max_messages = bound(stream.size), .max_bytes = 0});
  measure(
      stream,
      [&] {
        for (std::uint64_t number = 0; number < stream.count; ++number) publisher.publish(record);
      },
      [&](std::size_t number) {
        const bool writes = way == "copy" || (way == "write" && number == 0);
        std::uint64_t came = 0;
        for (auto& message : subscribers[number]) {
          check(message.sequence() == ++came, "a message is lost, or comes out of order");
          if (writes) message.mutate().number = came;
          check(message.value().fields.size() == record->fields.size(), "a wrong record");
          if (came == stream.count) break;
        }
      });
}

}  // namespace
}  // namespace bench_topics

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: stream raw|mf share|copy|write SUBSCRIBERS SIZE COUNT\n", stderr);
    return 2;
  }
  const std::string way = argv[2];
  const auto stream = bench_topics::stream_of(argv + 3);
  const auto record = std::make_shared<const samples::Record>(
      samples::Record{.number = 0, .fields = bench_topics::fields_of(stream.size)});
  if (std::string_view(argv[1]) == "mf") {
    bench_topics::mf_stream(stream, record, way);
  } else if (way == "copy") {
    bench_topics::raw(stream, *record, *record, false);
  } else {
    bench_topics::raw(stream, *record, record, way == "write");
  }
  return 0;
}
