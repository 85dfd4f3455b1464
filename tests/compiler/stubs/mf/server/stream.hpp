#pragma once
// Only what generated code names of streams, declared: until the runtime has this header.

#include <optional>
#include <string>
#include <utility>

#include "mf/core/handler.hpp"
#include "mf/core/stream.hpp"
#include "mf/server/incoming.hpp"

namespace mf::server {

namespace detail {
template <class T>
T made();
}  // namespace detail

template <class M>
void run_stream(Incoming& /*in*/, typename M::Servant& servant) {
  const auto request = detail::made<typename M::Request>();
  if constexpr (M::kInfo.streams == Streams::results) {
    auto writer = detail::made<StreamWriter<typename M::ResultElement>>();
    static_cast<void>(M::kResultElementTier);
    M::invoke(servant, request, writer);
  } else if constexpr (M::kInfo.streams == Streams::params) {
    auto reader = detail::made<StreamReader<typename M::ParamElement>>();
    static_cast<void>(M::kParamElementTier);
    static_cast<void>(M::invoke(servant, request, reader));
  } else {
    auto writer = detail::made<StreamWriter<typename M::ResultElement>>();
    auto reader = detail::made<StreamReader<typename M::ParamElement>>();
    M::invoke(servant, request, reader, writer);
  }
}

template <class M>
void run_stream(Incoming& /*in*/, typename M::AsyncServant& servant) {
  auto request = detail::made<typename M::Request>();
  auto responder = detail::made<Responder<typename M::Result>>();
  if constexpr (M::kInfo.streams == Streams::results) {
    M::invoke(servant, std::move(request), detail::made<StreamWriter<typename M::ResultElement>>(),
              std::move(responder));
  } else if constexpr (M::kInfo.streams == Streams::params) {
    M::invoke(servant, std::move(request), detail::made<StreamReader<typename M::ParamElement>>(),
              std::move(responder));
  } else {
    M::invoke(servant, std::move(request), detail::made<StreamReader<typename M::ParamElement>>(),
              detail::made<StreamWriter<typename M::ResultElement>>(), std::move(responder));
  }
}

}  // namespace mf::server
