// A peer: the same works over gRPC: one channel, the synchronous server (the faster of its two easy ones
// here), blocking calls for one at a time, callbacks for many. `grpc server` and `grpc client PORT`.
#include <grpcpp/grpcpp.h>

#include <memory>

#include "bench.grpc.pb.h"
#include "rpc/peers/pipeline.hpp"

namespace bench_rpc {
namespace {

using bench_grpc::Bench;
using bench_grpc::Blob;
using bench_grpc::Item;
using bench_grpc::Items;
using bench_grpc::Number;
using bench_grpc::Numbers;
using Stub = std::shared_ptr<Bench::Stub>;

constexpr std::size_t kOutstanding = 128;

class Servant final : public Bench::CallbackService {
 public:
  grpc::ServerUnaryReactor* Next(grpc::CallbackServerContext* context, const Number* request,
                                 Number* reply) override {
    reply->set_x(request->x() + 1);
    return ok(context);
  }
  grpc::ServerUnaryReactor* LookUp(grpc::CallbackServerContext* context, const Item* request,
                                   Number* reply) override {
    reply->set_x(looked_up(request->id(), request->name().size()));
    return ok(context);
  }
  grpc::ServerUnaryReactor* LookUpAll(grpc::CallbackServerContext* context, const Items* request,
                                      Numbers* reply) override {
    reply->mutable_x()->Reserve(request->items_size());
    for (const auto& item : request->items()) reply->add_x(looked_up(item.id(), item.name().size()));
    return ok(context);
  }
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const Blob* request,
                                 Blob* reply) override {
    reply->set_data(request->data());
    return ok(context);
  }
  grpc::ServerWriteReactor<Blob>* Scan(grpc::CallbackServerContext* /*context*/,
                                       const Number* request) override {
    class Scanning final : public grpc::ServerWriteReactor<Blob> {
     public:
      explicit Scanning(std::int32_t left) : left_(left) {
        value_.set_data(std::string(kValueSize, '\7'));
        go_on();
      }
      void OnWriteDone(bool ok) override { ok ? go_on() : Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }

     private:
      void go_on() {
        if (left_-- == 0) return Finish(grpc::Status::OK);
        StartWrite(&value_);  // with a buffer hint OnWriteDone() would never be called
      }
      std::int32_t left_;
      Blob value_;
    };
    return new Scanning(request->x());
  }
  grpc::ServerReadReactor<Blob>* Load(grpc::CallbackServerContext* /*context*/, Number* reply) override {
    class Loading final : public grpc::ServerReadReactor<Blob> {
     public:
      explicit Loading(Number* reply) : reply_(reply) { StartRead(&value_); }
      void OnReadDone(bool ok) override {
        if (!ok) return Finish(grpc::Status::OK);
        if (value_.data().size() == kValueSize) reply_->set_x(reply_->x() + 1);
        StartRead(&value_);
      }
      void OnDone() override { delete this; }

     private:
      Number* const reply_;
      Blob value_;
    };
    return new Loading(reply);
  }

 private:
  static grpc::ServerUnaryReactor* ok(grpc::CallbackServerContext* context) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int serve() {
  Servant servant;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&servant);
  const auto server = builder.BuildAndStart();
  check(server != nullptr, "cannot listen");
  serve_until_stdin_ends(static_cast<unsigned>(port));
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  return 0;
}

/// A call's context, with the default deadline of mf.
class Context : public grpc::ClientContext {
 public:
  Context() { set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30)); }
};

void check_ok(const grpc::Status& status) {
  check(status.ok(), status.error_message().c_str());
}

[[nodiscard]] std::int32_t next(Bench::Stub& stub, std::int32_t x) {
  Context context;
  Number request;
  Number reply;
  request.set_x(x);
  check_ok(stub.Next(&context, request, &reply));
  return reply.x();
}

Run unary(const Stub& stub, std::size_t count) {
  return [=] {
    return one_by_one(count, [&](std::int32_t i) { check(next(*stub, i) == i + 1, "a wrong answer"); });
  };
}

/// What one asynchronous call needs to stay alive.
template <class Request>
struct Call {
  Context context;
  Request request;
  Number reply;
};

/// A completion that passes on what the reply holds.
template <class Request, class Done>
auto answered(std::shared_ptr<Call<Request>> call, Done done) {
  return [call = std::move(call), done](const grpc::Status& status) {
    check_ok(status);
    done(call->reply.x());
  };
}

Run pipelined(const Stub& stub, std::size_t count) {
  return [=] {
    return pipeline(
        count, kOutstanding,
        [&](std::size_t i, auto done) {
          const auto call = std::make_shared<Call<Number>>();
          call->request.set_x(static_cast<std::int32_t>(i));
          stub->async()->Next(&call->context, &call->request, &call->reply, answered(call, done));
        },
        [](std::size_t i) { return static_cast<std::int32_t>(i + 1); });
  };
}

/// 100,000 calls at once would exceed their deadline, so calls start only as far ahead of their replies as
/// helps.
Run independent(const Stub& stub, std::size_t count) {
  constexpr std::size_t kAhead = 1024;
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
  return [=] {
    return pipeline(
        count, kAhead,
        [&](std::size_t i, auto done) {
          const auto call = std::make_shared<Call<Item>>();
          call->request.set_id(static_cast<std::int32_t>(i));
          call->request.set_name(names[i]);
          stub->async()->LookUp(&call->context, &call->request, &call->reply, answered(call, done));
        },
        [](std::size_t i) { return looked_up(static_cast<std::int32_t>(i), 16); });
  };
}

Run batch(const Stub& stub, std::size_t count) {
  return [=] {
    std::vector<std::string> names(count);
    for (std::size_t i = 0; i < count; ++i) names[i] = name_of(i);
    return all_at_once(count, [&] {
      Context context;
      Items request;
      Numbers reply;
      for (std::size_t i = 0; i < count; ++i) {
        auto* item = request.add_items();
        item->set_id(static_cast<std::int32_t>(i));
        item->set_name(names[i]);
      }
      check_ok(stub->LookUpAll(&context, request, &reply));
      for (std::size_t i = 0; i < count; ++i) {
        check(reply.x(static_cast<int>(i)) == looked_up(static_cast<std::int32_t>(i), 16), "a wrong answer");
      }
    });
  };
}

Run echo(const Stub& stub, std::size_t count, std::size_t bytes) {
  return [=] {
    Blob request;
    request.set_data(std::string(bytes, '\7'));
    return echoes(count, bytes, [&] {
      Context context;
      Blob reply;
      check_ok(stub->Echo(&context, request, &reply));
      check(reply.data().size() == bytes && reply.data().back() == '\7', "a wrong echo");
    });
  };
}

Run server_stream(const Stub& stub, std::size_t count) {
  return [=] {
    return streamed(count, [&] {
      Context context;
      Number request;
      request.set_x(static_cast<std::int32_t>(count));
      const auto reader = stub->Scan(&context, request);
      Blob value;
      std::size_t got = 0;
      while (reader->Read(&value)) got += value.data().size() == kValueSize ? 1 : 0;
      check_ok(reader->Finish());
      check(got == count, "values are missing");
    });
  };
}

Run client_stream(const Stub& stub, std::size_t count) {
  return [=] {
    Blob value;
    value.set_data(std::string(kValueSize, '\7'));
    return streamed(count, [&] {
      Context context;
      Number reply;
      const auto writer = stub->Load(&context, &reply);
      for (std::size_t i = 0; i < count; ++i) {
        check(writer->Write(value, grpc::WriteOptions().set_buffer_hint()), "the stream broke");
      }
      writer->WritesDone();
      check_ok(writer->Finish());
      check(static_cast<std::size_t>(reply.x()) == count, "values are missing");
    });
  };
}

[[nodiscard]] Stub stub_of(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // its own connection
  return Bench::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

int call(const std::string& port) {
  const auto address = "127.0.0.1:" + port;
  const auto stub = stub_of(address);
  std::vector<Stub> idle;
  return obey({
      {"unary_i32", [&](std::size_t n) { return unary(stub, n); }},
      {"pipelined_128", [&](std::size_t n) { return pipelined(stub, n); }},
      {"independent_100k", [&](std::size_t n) { return independent(stub, n); }},
      {"batch_100k", [&](std::size_t n) { return batch(stub, n); }},
      {"echo_1mib", [&](std::size_t n) { return echo(stub, n, std::size_t{1} << 20); }},
      {"echo_16mib", [&](std::size_t n) { return echo(stub, n, std::size_t{16} << 20); }},
      {"server_stream_100b", [&](std::size_t n) { return server_stream(stub, n); }},
      {"client_stream_100b", [&](std::size_t n) { return client_stream(stub, n); }},
      {"idle",
       [&](std::size_t n) -> Run {
         return [&, n] {
           return all_at_once(n, [&] {
             for (std::size_t i = 0; i < n; ++i) {
               idle.push_back(stub_of(address));
               check(next(*idle.back(), 1) == 2, "a wrong answer");
             }
           });
         };
       }},
  });
}

}  // namespace
}  // namespace bench_rpc

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "server") return bench_rpc::serve();
  if (argc == 3 && std::string_view(argv[1]) == "client") return bench_rpc::call(argv[2]);
  std::fputs("usage: grpc server | grpc client PORT\n", stderr);
  return 2;
}
