// The technical report's MF-light (section 4.2), in three forms: managers of one process that send each other
// requests and replies through queues, each manager with a thread that serves.
//
//   global   figure 6: one queue for all requests and one for all replies, and a thread for each of them that
//            passes each message on to the queue of its manager
//   direct   figure 7: clients put requests into their server's queue, servers put replies into their
//            client's
//   merged   the same, but a server puts all replies of a turn into its client's queue at once
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench_report {

template <class T>
class Queue {
 public:
  void put(T item) {
    {
      const std::scoped_lock lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }
  void put_all(std::vector<T>& items) {
    {
      const std::scoped_lock lock(mutex_);
      items_.insert(items_.end(), items.begin(), items.end());
    }
    items.clear();
    changed_.notify_one();
  }
  /// Takes everything, once there is something; empty if the queue was closed.
  [[nodiscard]] std::deque<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || closed_; });
    return std::exchange(items_, {});
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

struct QueuedRequest {
  std::size_t client = 0;
  std::size_t item = 0;
  std::int32_t id = 0;
  const std::string* name = nullptr;
};
struct QueuedReply {
  std::size_t client = 0;
  std::size_t item = 0;
  std::int32_t value = 0;
};

enum class Form : std::uint8_t { global, direct, merged };

/// One server and several clients; each client makes its requests on its caller's thread.
class QueuedLight {
 public:
  using Serve = std::function<std::int32_t(std::int32_t id, const std::string& name)>;

  QueuedLight(Form form, std::size_t clients, Serve serve)
      : form_(form), serve_(std::move(serve)), replies_(clients) {
    threads_.emplace_back([this] { run_server(); });
    if (form_ != Form::global) return;
    threads_.emplace_back(
        [this] { hand_on(all_requests_, [this](QueuedRequest each) { requests_.put(each); }); });
    threads_.emplace_back(
        [this] { hand_on(all_replies_, [this](QueuedReply each) { replies_[each.client].put(each); }); });
  }
  ~QueuedLight() {
    all_requests_.close();
    requests_.close();
    all_replies_.close();
  }
  QueuedLight(const QueuedLight&) = delete;
  QueuedLight& operator=(const QueuedLight&) = delete;

  /// The results of a batch, in its order.
  [[nodiscard]] std::vector<std::int32_t> call(std::size_t client, const std::vector<std::int32_t>& ids,
                                               const std::vector<std::string>& names) {
    auto& requests = form_ == Form::global ? all_requests_ : requests_;
    for (std::size_t i = 0; i < ids.size(); ++i)
      requests.put({.client = client, .item = i, .id = ids[i], .name = &names[i]});
    std::vector<std::int32_t> values(ids.size());
    for (std::size_t got = 0; got < ids.size();) {
      const auto some = replies_[client].take();
      for (const auto& reply : some) values[reply.item] = reply.value;
      got += some.size();
    }
    return values;
  }

 private:
  template <class T, class To>
  static void hand_on(Queue<T>& from, To to) {
    for (auto some = from.take(); !some.empty(); some = from.take()) {
      for (const auto& each : some) to(each);
    }
  }

  void run_server() {
    std::vector<std::vector<QueuedReply>> answered(replies_.size());
    for (auto some = requests_.take(); !some.empty(); some = requests_.take()) {
      for (const auto& request : some) {
        const QueuedReply reply{
            .client = request.client, .item = request.item, .value = serve_(request.id, *request.name)};
        if (form_ == Form::global) {
          all_replies_.put(reply);
        } else if (form_ == Form::direct) {
          replies_[request.client].put(reply);
        } else {
          answered[request.client].push_back(reply);
        }
      }
      for (std::size_t i = 0; i < answered.size(); ++i) {
        if (!answered[i].empty()) replies_[i].put_all(answered[i]);
      }
    }
  }

  const Form form_;
  const Serve serve_;
  Queue<QueuedRequest> all_requests_;
  Queue<QueuedRequest> requests_;
  Queue<QueuedReply> all_replies_;
  std::vector<Queue<QueuedReply>> replies_;
  std::vector<std::jthread> threads_;
};

}  // namespace bench_report
