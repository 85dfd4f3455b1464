#pragma once
// Only what generated code names of streams, declared: until the runtime has this header.

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>

#include "mf/core/outcome.hpp"

namespace mf {

template <class T>
class StreamReader {
 public:
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;
  ~StreamReader();
  std::optional<T> next();
  bool next(T& value);
  T* begin();
  T* end();
  void cancel();
};

template <class T>
class StreamWriter {
 public:
  StreamWriter(StreamWriter&&) noexcept;
  StreamWriter& operator=(StreamWriter&&) noexcept;
  ~StreamWriter();
  void write(const T& value);
  void flush();
};

}  // namespace mf
