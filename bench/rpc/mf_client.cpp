// `mf_client PORT`: the works through generated stubs. The default deadline of 30 s applies to all of them.
#include <atomic>
#include <memory>
#include <semaphore>

#include "bench.client.hpp"
#include "mf/light/light.hpp"
#include "servant.hpp"

namespace bench_rpc {
namespace {

using Stub = bench::BenchClient;
constexpr std::size_t kOutstanding = 128;

Run unary(const Stub& stub, std::size_t count) {
  return [=] {
    return one_by_one(count, [&](std::int32_t i) { check(stub.next(i) == i + 1, "a wrong answer"); });
  };
}

Run unary_look_up(const Stub& stub, std::size_t count) {
  return [=, name = name_of(1)] {
    return one_by_one(count, [&](std::int32_t i) {
      check(stub.look_up(i, name) == looked_up(i, name.size()), "a wrong answer");
    });
  };
}

/// Keeps a fixed number of calls under way: each completion starts the next.
class Pipeline {
 public:
  Pipeline(const Stub& stub, std::size_t count) : stub_(stub), count_(count) {}

  void run() {
    for (std::size_t i = 0; i < std::min(kOutstanding, count_); ++i) start_next();
    done_.acquire();
  }

 private:
  void start_next() {
    const auto i = started_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count_) return;
    const auto x = static_cast<std::int32_t>(i);
    stub_.async_next(x, [this, x](const mf::Outcome<std::int32_t>& outcome) {
      check(outcome.value() == x + 1, "a wrong answer");
      start_next();
      if (ended_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) done_.release();
    });
  }

  const Stub& stub_;
  const std::size_t count_;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> ended_{0};
  std::binary_semaphore done_{0};
};

Run pipelined(const Stub& stub, std::size_t count) {
  return [=] {
    Pipeline pipeline(stub, count);
    return all_at_once(count, [&] { pipeline.run(); });
  };
}

[[nodiscard]] std::vector<bench::BenchLookUpRequest> requests(std::size_t count) {
  std::vector<bench::BenchLookUpRequest> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i].id = static_cast<std::int32_t>(i);
    made[i].name = name_of(i);
  }
  return made;
}

void check_answers(const std::vector<bench::BenchLookUpRequest>& made,
                   const mf::Outcomes<std::int32_t>& outcomes) {
  check(outcomes.size() == made.size(), "answers are missing");
  for (std::size_t i = 0; i < made.size(); ++i) {
    check(outcomes[i].value() == looked_up(made[i].id, made[i].name.size()), "a wrong answer");
  }
}

Run independent(const Stub& stub, std::size_t count) {
  return [=, made = requests(count)] {
    std::atomic<std::size_t> left{count};
    std::binary_semaphore done{0};
    return all_at_once(count, [&] {
      for (const auto& request : made) {
        stub.async_look_up(request.id, request.name,
                           [&left, &done, id = request.id](const mf::Outcome<std::int32_t>& outcome) {
                             check(outcome.value() == looked_up(id, 16), "a wrong answer");
                             if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) done.release();
                           });
      }
      done.acquire();
    });
  };
}

Run application_batch(const Stub& stub, std::size_t count) {
  return [=, made = requests(count)] {
    return all_at_once(count, [&] { check_answers(made, stub.look_up_bulk(made)); });
  };
}

Run list_call(const Stub& stub, std::size_t count) {
  std::vector<bench::Item> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    items[i].id = static_cast<std::int32_t>(i);
    items[i].name = name_of(i);
  }
  return [=, items = std::move(items)] {
    return all_at_once(count, [&] {
      const auto found = stub.look_up_all(items);
      check(found.size() == count, "answers are missing");
      for (std::size_t i = 0; i < count; ++i) {
        check(found[i] == looked_up(items[i].id, items[i].name.size()), "a wrong answer");
      }
    });
  };
}

Run message_batch(const Stub& stub, std::size_t count) {
  return [=, made = requests(count)] {
    return all_at_once(count, [&] { check_answers(made, stub.look_up_batch(made).results()); });
  };
}

Run echo(const Stub& stub, std::size_t count, std::size_t bytes) {
  return [=, data = mf::Bytes(bytes, std::byte{7})] {
    return echoes(count, bytes, [&] {
      const auto same = stub.echo(data);
      check(same.size() == bytes && same.back() == std::byte{7}, "a wrong echo");
    });
  };
}

/// `echo`: of a list, or of a view of one.
template <class List, class Echo>
Run echo_list(std::size_t count, Echo echo) {
  return [=, values = List(std::vector<double>(kNumbers, 7.0))] {
    return echoes(count, kNumbers * sizeof(double), [&] {
      const auto same = echo(values);
      check(same.size() == kNumbers && same.back() == 7.0, "a wrong echo");
    });
  };
}

Run server_stream(const Stub& stub, std::size_t count) {
  return [=] {
    return streamed(count, [&] {
      std::size_t got = 0;
      for (const auto& value : stub.scan(static_cast<std::uint32_t>(count))) {
        got += value.size() == kValueSize ? 1 : 0;
      }
      check(got == count, "values are missing");
    });
  };
}

Run client_stream(const Stub& stub, std::size_t count) {
  return [=, value = mf::Bytes(kValueSize, std::byte{7})] {
    return streamed(count, [&] {
      auto stream = stub.load();
      for (std::size_t i = 0; i < count; ++i) stream.write(value);
      check(stream.finish() == count, "values are missing");
    });
  };
}

/// The time from the client's cancel() until the handler, which waits on its stop_token, runs again.
Run cancel(const Stub& stub, std::size_t count) {
  return [=] {
    std::vector<double> us(count);
    for (auto& each : us) {
      auto lingering = stub.linger();
      check(lingering.next().has_value(), "the handler did not begin");
      const auto before = now_ns();
      lingering.cancel();
      each = static_cast<double>(stub.noticed() - before) / 1e3;
    }
    return percentiles(std::move(us));
  };
}

Run in_process(const Stub& stub, std::size_t count, const mf::CallOptions& options) {
  return [=] {
    return in_a_row(count, [&](std::int32_t i) { check(stub.next(i, options) == i + 1, "a wrong answer"); });
  };
}

/// A hundred calls whose results are cached, again and again.
Run cached_hit(const Stub& stub, std::size_t count) {
  return [=, made = requests(100)] {
    for (const auto& each : made)
      check(stub.known(each.id, each.name) == looked_up(each.id, 16), "a wrong answer");
    return in_a_row(count, [&](std::int32_t i) {
      const auto& each = made[static_cast<std::size_t>(i) % made.size()];
      check(stub.known(each.id, each.name) == looked_up(each.id, 16), "a wrong answer");
    });
  };
}

/// Connections that have made one call each and stay open until this program ends.
class IdleClients {
 public:
  IdleClients(std::string url, const mf::ClientOptions& options) : url_(std::move(url)), options_(options) {}

  void open(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<mf::Client>(url_, options_));
      check(Stub(*clients_.back()).next(1) == 2, "a wrong answer");
    }
  }

 private:
  const std::string url_;
  const mf::ClientOptions options_;
  std::vector<std::unique_ptr<mf::Client>> clients_;
};

int call(const std::string& way, const std::string& port) {
  const auto url = way == "unix" ? "unix:" + path_of(std::stoul(port)) : "tcp://127.0.0.1:" + port;
  mf::ClientOptions options;
  options.max_payload = kMaxPayload;
  mf::Client client(url, options);
  const Stub stub(client);

  mf::Light light;
  light.offer(std::make_shared<Servant>());
  mf::Client local(light);
  const Stub here(local);

  IdleClients idle(url, options);
  const mf::CallOptions deadline{.deadline = std::chrono::seconds(30)};
  return obey({
      {"unary_i32", [&](std::size_t n) { return unary(stub, n); }},
      {"unary_look_up", [&](std::size_t n) { return unary_look_up(stub, n); }},
      {"pipelined_128", [&](std::size_t n) { return pipelined(stub, n); }},
      {"independent_100k", [&](std::size_t n) { return independent(stub, n); }},
      {"batch_100k", [&](std::size_t n) { return application_batch(stub, n); }},
      {"batch_100k/list", [&](std::size_t n) { return list_call(stub, n); }},
      {"batch_100k/message", [&](std::size_t n) { return message_batch(stub, n); }},
      {"echo_1mib", [&](std::size_t n) { return echo(stub, n, std::size_t{1} << 20); }},
      {"echo_16mib", [&](std::size_t n) { return echo(stub, n, std::size_t{16} << 20); }},
      {"echo_f64_1m",
       [&](std::size_t n) {
         return echo_list<std::vector<double>>(n, [&stub](const auto& list) { return stub.echo_list(list); });
       }},
      {"echo_f64_1m/view",
       [&](std::size_t n) {
         return echo_list<bench::Samples>(n, [&stub](const auto& list) { return stub.echo_view(list); });
       }},
      {"server_stream_100b", [&](std::size_t n) { return server_stream(stub, n); }},
      {"client_stream_100b", [&](std::size_t n) { return client_stream(stub, n); }},
      {"cancel_to_handler", [&](std::size_t n) { return cancel(stub, n); }},
      {"in_process/light", [&](std::size_t n) { return in_process(here, n, {}); }},
      {"in_process/light-deadline", [&](std::size_t n) { return in_process(here, n, deadline); }},
      {"cached_hit", [&](std::size_t n) { return cached_hit(stub, n); }},
      {"idle",
       [&](std::size_t n) -> Run { return [&idle, n] { return all_at_once(n, [&] { idle.open(n); }); }; }},
  });
}

}  // namespace
}  // namespace bench_rpc

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fputs("usage: mf_client [tcp|unix] PORT\n", stderr);
    return 2;
  }
  return bench_rpc::call(argc == 3 ? argv[1] : "tcp", argv[argc - 1]);
}
