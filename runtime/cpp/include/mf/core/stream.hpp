#pragma once
// The user's view of a stream's values, the same on both sides of a call and for every transport:
//
//   for (const Posting& posting : index.scan(3)) …           a reader is an input range
//   while (auto posting = reader.next()) …                    or is asked
//   auto next = co_await reader.async_next(use_awaitable);    Outcome<std::optional<Posting>>; any token
//   out.write(posting);                                       blocks while the other side has given no credit
//
// One thread at a time may use a reader or writer, and each may have one operation in progress. A failure
// that ends a stream early is thrown: mf::Error, or an error that the method declares.

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "mf/core/async.hpp"
#include "mf/core/outcome.hpp"

namespace mf {

namespace detail {

/// The source of a reader's values. It lives as long as an operation is in progress.
template <class T>
class Values : public std::enable_shared_from_this<Values<T>> {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  virtual ~Values() = default;

  /// Waits for a value; false if there are no more.
  virtual bool next(T& value) = 0;
  virtual void async_next(Callback<std::optional<T>> done) = 0;
  /// No more values are wanted: a pending read ends as CANCELLED. Does nothing once the end was seen.
  virtual void cancel() noexcept = 0;
};

/// The destination of a writer's values.
template <class T>
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// False if the other side wants no more values.
  virtual bool write(const T& value) = 0;
  virtual void async_write(const T& value, Callback<bool> done) = 0;
  virtual void flush() = 0;
};

/// Ends a call whose parameters are a stream.
template <class R>
class Ending {
 public:
  Ending() = default;
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  virtual ~Ending() = default;

  /// No more values follow: sends pending ones, and waits for the reply. A second call throws
  /// INVALID_ARGUMENT.
  virtual R finish() = 0;
  virtual void async_finish(Callback<R> done) = 0;
  /// Cancels the call. Does nothing once it has ended.
  virtual void cancel() noexcept = 0;
};

/// Ends the parameter stream of a call whose result is a stream, too.
class Closing {
 public:
  Closing() = default;
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  virtual ~Closing() = default;

  /// No more values follow: sends pending ones. A second call does nothing.
  virtual void done_writing() = 0;
};

}  // namespace detail

/// Reads values until there are no more. Dropping it earlier cancels the stream.
template <class T>
class StreamReader {
 public:
  using Value = T;

  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(StreamReader* reader) : reader_(reader) { ++*this; }

    const T& operator*() const noexcept { return reader_->current_; }
    const T* operator->() const noexcept { return &reader_->current_; }
    Iterator& operator++() {
      if (!reader_->next(reader_->current_)) reader_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& iterator, std::default_sentinel_t) noexcept {
      return iterator.reader_ == nullptr;
    }

   private:
    StreamReader* reader_ = nullptr;
  };

  explicit StreamReader(std::shared_ptr<detail::Values<T>> values) noexcept : values_(std::move(values)) {}
  StreamReader(StreamReader&&) noexcept = default;
  StreamReader& operator=(StreamReader&& other) noexcept {
    StreamReader(std::move(other)).swap(*this);
    return *this;
  }
  ~StreamReader() { cancel(); }

  /// Waits for the next value; nothing at the end.
  std::optional<T> next() {
    std::optional<T> value(std::in_place);
    if (!values_->next(*value)) value.reset();
    return value;
  }
  /// The same into an existing value, whose memory is reused; false at the end.
  bool next(T& value) { return values_->next(value); }
  /// Completes with Outcome<std::optional<T>>. The token's cancellation slot cancels the call.
  template <class Token>
  auto async_next(Token&& token) {
    return Completes<std::decay_t<Token>, std::optional<T>>::initiate(
        std::forward<Token>(token), [values = values_, turns = turns_](Callback<std::optional<T>> done,
                                                                       const std::stop_token& stop = {}) {
          turns->run([values, done = detail::stopped_with(stop, detail::cancelling(values),
                                                          std::move(done))]() mutable {
            values->async_next(std::move(done));
          });
        });
  }

  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const noexcept { return {}; }

  /// No more values are wanted: the other side is notified, and next() throws CANCELLED from now on.
  void cancel() noexcept {
    if (values_) values_->cancel();
  }
  /// Takes the source of the values out, for another reader that goes through it. This one is empty then.
  [[nodiscard]] std::shared_ptr<detail::Values<T>> release() && noexcept {
    return std::exchange(values_, nullptr);
  }

 protected:
  std::shared_ptr<detail::Values<T>> values_;

 private:
  void swap(StreamReader& other) noexcept {
    values_.swap(other.values_);
    turns_.swap(other.turns_);
  }

  std::shared_ptr<detail::Turns> turns_ = std::make_shared<detail::Turns>();
  T current_{};
};

/// Writes values and gathers them into few messages: they are sent when there are many, when the writer waits
/// or ends, or else within a turn of the loop.
template <class T>
class StreamWriter {
 public:
  using Value = T;

  explicit StreamWriter(std::shared_ptr<detail::Sink<T>> sink) noexcept : sink_(std::move(sink)) {}

  /// Waits while the other side has given no credit. False: it wants no more values, though the call
  /// continues. Throws the failure that ended the call, and INVALID_ARGUMENT once this side has ended the
  /// stream.
  bool write(const T& value) { return sink_->write(value); }
  /// Completes with Outcome<bool> when the next value may be written.
  template <class Token>
  auto async_write(const T& value, Token&& token) {
    return start_write(value, std::forward<Token>(token), [] {});
  }
  /// The same; the token's cancellation slot calls `cancel()`.
  template <class Token, class Cancel>
  auto start_write(const T& value, Token&& token, Cancel cancel) {
    return Completes<std::decay_t<Token>, bool>::initiate(
        std::forward<Token>(token), [sink = sink_, turns = turns_, copy = T(value), cancel](
                                        Callback<bool> done, const std::stop_token& stop = {}) mutable {
          turns->run([sink, copy = std::move(copy),
                      done = detail::stopped_with(stop, cancel, std::move(done))]() mutable {
            sink->async_write(copy, std::move(done));
          });
        });
  }
  /// Sends the gathered values now.
  void flush() { sink_->flush(); }
  /// As StreamReader::release().
  [[nodiscard]] std::shared_ptr<detail::Sink<T>> release() && noexcept {
    return std::exchange(sink_, nullptr);
  }

 private:
  std::shared_ptr<detail::Sink<T>> sink_;
  std::shared_ptr<detail::Turns> turns_ = std::make_shared<detail::Turns>();
};

/// A client's side of a call whose parameters end with a stream: writes the values, then finish() returns the
/// result. Dropping it before finish() cancels the call.
template <class T, class R>
class ClientStream {
 public:
  ClientStream(std::shared_ptr<detail::Sink<T>> sink, std::shared_ptr<detail::Ending<R>> ending) noexcept
      : writer_(std::move(sink)), ending_(std::move(ending)) {}
  ClientStream(ClientStream&&) noexcept = default;
  ClientStream& operator=(ClientStream&& other) noexcept {
    cancel();
    writer_ = std::move(other.writer_);
    ending_ = std::move(other.ending_);
    return *this;
  }
  ~ClientStream() { cancel(); }

  /// As StreamWriter::write(). False: the server reads no more, and finish() gives the outcome of the call.
  bool write(const T& value) { return writer_.write(value); }
  /// The token's cancellation slot cancels the call, here and below.
  template <class Token>
  auto async_write(const T& value, Token&& token) {
    return writer_.start_write(value, std::forward<Token>(token), detail::cancelling(ending_));
  }
  void flush() { writer_.flush(); }

  /// Ends the stream and waits for the result; throws the call's failure. May be called once.
  R finish() { return ending_->finish(); }
  /// Completes with Outcome<R>.
  template <class Token>
  auto async_finish(Token&& token) {
    return Completes<std::decay_t<Token>, R>::initiate(
        std::forward<Token>(token), [ending = ending_](Callback<R> done, const std::stop_token& stop = {}) {
          ending->async_finish(detail::stopped_with(stop, detail::cancelling(ending), std::move(done)));
        });
  }
  void cancel() noexcept {
    if (ending_) ending_->cancel();
  }
  /// As StreamReader::release().
  [[nodiscard]] std::pair<std::shared_ptr<detail::Sink<T>>, std::shared_ptr<detail::Ending<R>>>
  release() && noexcept {
    return {std::move(writer_).release(), std::exchange(ending_, nullptr)};
  }

 private:
  StreamWriter<T> writer_;
  std::shared_ptr<detail::Ending<R>> ending_;
};

/// A client's side of a call with streams in both directions: values may be written and read in any order.
/// While a write waits for credit, arriving values are kept, within the window.
template <class In, class Out>
class DuplexStream : public StreamReader<Out> {
 public:
  DuplexStream(std::shared_ptr<detail::Sink<In>> sink, std::shared_ptr<detail::Closing> closing,
               std::shared_ptr<detail::Values<Out>> values) noexcept
      : StreamReader<Out>(std::move(values)), writer_(std::move(sink)), closing_(std::move(closing)) {}

  bool write(const In& value) { return writer_.write(value); }
  template <class Token>
  auto async_write(const In& value, Token&& token) {
    return writer_.start_write(value, std::forward<Token>(token), detail::cancelling(this->values_));
  }
  void flush() { writer_.flush(); }
  /// Ends the stream of written values; the server's values may still be read.
  void done_writing() { closing_->done_writing(); }
  /// What writes and what ends writing, beside StreamReader::release().
  [[nodiscard]] std::pair<std::shared_ptr<detail::Sink<In>>, std::shared_ptr<detail::Closing>>
  release_writer() && noexcept {
    return {std::move(writer_).release(), std::exchange(closing_, nullptr)};
  }

 private:
  StreamWriter<In> writer_;
  std::shared_ptr<detail::Closing> closing_;
};

}  // namespace mf
