#include "serving.hpp"

#include <array>
#include <cstdint>
#include <ctime>

#include "frames.hpp"

namespace mf::native {

namespace {

constexpr std::uint64_t kKind = 0x8F;  // of flags: the encoding, and whether there is a stream

struct ServingNames {
  PyObject* await = PyUnicode_InternFromString("__await__");
  PyObject* acquire = PyUnicode_InternFromString("acquire");
  PyObject* connection = PyUnicode_InternFromString("connection");
  PyObject* count = PyUnicode_InternFromString("count");
  PyObject* counters = PyUnicode_InternFromString("counters");
  PyObject* deadline = PyUnicode_InternFromString("deadline");
  PyObject* decode_request = PyUnicode_InternFromString("decode_request");
  PyObject* encode_result = PyUnicode_InternFromString("encode_result");
  PyObject* flags = PyUnicode_InternFromString("flags");
  PyObject* function = PyUnicode_InternFromString("function");
  PyObject* gate = PyUnicode_InternFromString("gate");
  PyObject* handler = PyUnicode_InternFromString("handler");
  PyObject* id = PyUnicode_InternFromString("id");
  PyObject* in_flight = PyUnicode_InternFromString("in_flight");
  PyObject* lock = PyUnicode_InternFromString("lock");
  PyObject* method = PyUnicode_InternFromString("method");
  PyObject* on_executed = PyUnicode_InternFromString("on_executed");
  PyObject* oneway = PyUnicode_InternFromString("oneway");
  PyObject* out = PyUnicode_InternFromString("out");
  PyObject* out_bytes = PyUnicode_InternFromString("out_bytes");
  PyObject* payload = PyUnicode_InternFromString("payload");
  PyObject* peer_max_payload = PyUnicode_InternFromString("peer_max_payload");
  PyObject* planned = PyUnicode_InternFromString("planned");
  PyObject* queued = PyUnicode_InternFromString("queued");
  PyObject* release = PyUnicode_InternFromString("release");
  PyObject* reply = PyUnicode_InternFromString("reply");
  PyObject* reply_entries = PyUnicode_InternFromString("reply_entries");
  PyObject* result_encoding = PyUnicode_InternFromString("result_encoding");
  PyObject* route = PyUnicode_InternFromString("route");
  PyObject* session = PyUnicode_InternFromString("session");
  PyObject* state = PyUnicode_InternFromString("state");
  PyObject* watched = PyUnicode_InternFromString("watched");
  PyObject* written = PyUnicode_InternFromString("written");
  bool is_whole = PyErr_Occurred() == nullptr;
};

[[nodiscard]] const ServingNames& serving_names() {
  static const ServingNames made;
  return made;
}

[[nodiscard]] Owned part(const Owned& object, PyObject* name) {
  return Owned(PyObject_GetAttr(object.get(), name));
}

[[nodiscard]] bool is(const Owned& object, PyObject* name, PyObject* wanted) {
  return part(object, name).get() == wanted;
}

[[nodiscard]] bool is_number_in(const Owned& object, PyObject* name, unsigned bytes, std::uint64_t& number) {
  const Owned value = part(object, name);
  return value && number_in(value.get(), bytes, number);
}

/// As time.monotonic().
[[nodiscard]] double monotonic_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

[[nodiscard]] bool is_in_time(const Owned& call) {
  const Owned deadline = part(call, serving_names().deadline);
  return deadline && PyFloat_CheckExact(deadline.get()) &&
         PyFloat_AS_DOUBLE(deadline.get()) > monotonic_now();
}

/// Whether Python has an error that its own functions may word: no lack of memory, and no end of the program.
[[nodiscard]] bool is_for_python() {
  return PyErr_Occurred() == nullptr ||
         (PyErr_ExceptionMatches(PyExc_Exception) != 0 && PyErr_ExceptionMatches(PyExc_MemoryError) == 0);
}

/// What the functions of Python are for.
struct Python {
  PyObject* run;
  PyObject* answer_raised;
  PyObject* answer_one;
  PyObject* current;
  PyObject* running;
  PyObject* ended;
  PyObject* closed;
  PyObject* enter_task = nullptr;  // these three for `begin` alone
  PyObject* leave_task = nullptr;
  PyObject* maybe_await = nullptr;

  explicit Python(PyObject* given)
      : run(PyTuple_GET_ITEM(given, 0)),
        answer_raised(PyTuple_GET_ITEM(given, 1)),
        answer_one(PyTuple_GET_ITEM(given, 2)),
        current(PyTuple_GET_ITEM(given, 3)),
        running(PyTuple_GET_ITEM(given, 4)),
        ended(PyTuple_GET_ITEM(given, 5)),
        closed(PyTuple_GET_ITEM(given, 6)) {
    if (PyTuple_GET_SIZE(given) == 7) return;
    enter_task = PyTuple_GET_ITEM(given, 7);
    leave_task = PyTuple_GET_ITEM(given, 8);
    maybe_await = PyTuple_GET_ITEM(given, 9);
  }
};

class Served {
 public:
  Served(PyObject* call, const Python& python)
      : python_(python), names_(serving_names()), call_(Owned::share(call)) {}

  [[nodiscard]] PyObject* run() {
    const std::array<PyObject*, 1> given = {call_.get()};
    return straight_or_by(given, [&]() -> PyObject* {
      Owned result;
      bool is_answered = false;
      if (!handle(result, is_answered)) return nullptr;
      return is_answered ? Py_NewRef(Py_None) : answer(result);
    });
  }

  /// The same for a coroutine, as `task` of `loop`. Returns (context, coroutine, awaited object) if the
  /// handler waits, else None.
  [[nodiscard]] PyObject* begin(PyObject* loop, PyObject* task) {
    const std::array<PyObject*, 3> given = {call_.get(), loop, task};
    return straight_or_by(given, [&]() -> PyObject* {
      const Owned context(PyContext_CopyCurrent());
      Step step;
      if (!context || !step_as(loop, task, context, step)) return nullptr;
      if (step.is_answered) return Py_NewRef(Py_None);
      if (step.waiting) return PyTuple_Pack(3, context.get(), step.waiting.get(), step.got.get());
      return answer(step.got);
    });
  }

 private:
  /// Goes the straight way, which `go_on` is once the call counts as executed; all other calls, and those
  /// that are refused, are for `run` of Python, with what it is given.
  template <std::size_t count, class GoOn>
  [[nodiscard]] PyObject* straight_or_by(const std::array<PyObject*, count>& given, const GoOn& go_on) {
    if (!is_straight() || !read()) {
      if (!is_for_python()) return nullptr;
      PyErr_Clear();
      return PyObject_Vectorcall(python_.run, given.data(), count, nullptr);
    }
    const Owned counted(PyObject_CallMethodOneArg(counters_.get(), names_.on_executed, one_.get()));
    return counted ? go_on() : nullptr;
  }

  /// What the first step of a coroutine has led to.
  struct Step {
    Owned waiting;  // the coroutine, if it waits
    Owned got;      // what it waits for, or its result
    bool is_answered = false;
  };

  /// False: Python has an error.
  [[nodiscard]] bool step_as(PyObject* loop, PyObject* task, const Owned& context, Step& step) const {
    std::array<PyObject*, 2> pair = {loop, task};
    const Owned entered(PyObject_Vectorcall(python_.enter_task, pair.data(), pair.size(), nullptr));
    if (!entered) return false;
    bool is_well = PyContext_Enter(context.get()) == 0;
    if (is_well) {
      is_well = first_step(step);
      is_well = after_error([&] { return PyContext_Exit(context.get()) == 0; }) && is_well;
    }
    return after_error([&] {
             return static_cast<bool>(
                 Owned(PyObject_Vectorcall(python_.leave_task, pair.data(), pair.size(), nullptr)));
           }) &&
           is_well;
  }

  [[nodiscard]] bool first_step(Step& step) const {
    const Owned token(PyContextVar_Set(python_.current, call_.get()));
    if (!token) return false;
    Owned given(PyObject_Call(function_.get(), arguments_.get(), nullptr));
    if (given && PyCoro_CheckExact(given.get()) == 0) {
      if (PyObject_HasAttr(given.get(), names_.await) == 0) {
        step.got = std::move(given);
        return true;
      }
      given = Owned(PyObject_CallOneArg(python_.maybe_await, given.get()));
    }
    if (given) {
      PyObject* got = nullptr;
      const PySendResult sent = PyIter_Send(given.get(), Py_None, &got);
      step.got = Owned(got);
      if (sent == PYGEN_NEXT) step.waiting = std::move(given);
      if (sent != PYGEN_ERROR) return true;
    }
    step.is_answered = true;
    return answer_raised();
  }

  /// One item, which has come in time, as the method has it planned, to a handler without gate or observers.
  [[nodiscard]] bool is_straight() {
    handler_ = part(call_, names_.handler);
    if (!handler_ || !is(handler_, names_.gate, Py_None) || !is(handler_, names_.watched, Py_False))
      return false;
    method_ = part(handler_, names_.method);
    std::uint64_t count = 0;
    std::uint64_t flags = 0;
    std::uint64_t planned = 0;
    return method_ && is(method_, names_.oneway, Py_False) && is(call_, names_.oneway, Py_False) &&
           is_number_in(call_, names_.count, 4, count) && count == 1 &&
           is_number_in(call_, names_.flags, 1, flags) &&
           is_number_in(handler_, names_.planned, 1, planned) && (flags & kKind) == planned &&
           is(call_, names_.state, python_.running) && is_in_time(call_);
  }

  /// The arguments, and what the handler needs.
  [[nodiscard]] bool read() {
    const Owned decode = part(method_, names_.decode_request);
    const Owned payload = part(call_, names_.payload);
    function_ = part(handler_, names_.function);
    counters_ = part(handler_, names_.counters);
    one_ = Owned(PyLong_FromLong(1));
    if (!decode || !payload || !function_ || !counters_ || !one_) return false;
    arguments_ = Owned(PyObject_CallOneArg(decode.get(), payload.get()));
    return arguments_ && PyTuple_CheckExact(arguments_.get());
  }

  /// Calls the handler, as the running call of its context. False: Python has an error.
  [[nodiscard]] bool handle(Owned& result, bool& is_answered) {
    const Owned token(PyContextVar_Set(python_.current, call_.get()));
    if (!token) return false;
    result = Owned(PyObject_Call(function_.get(), arguments_.get(), nullptr));
    bool is_well = true;
    if (!result) {
      is_answered = true;
      is_well = answer_raised();
    }
    if (PyContextVar_Reset(python_.current, token.get()) == 0) return is_well;
    return false;
  }

  /// The exception is handled while it is answered for, as within `except`.
  [[nodiscard]] bool answer_raised() const {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    if (PyErr_Occurred() == nullptr)  // Python itself forgets the exception of some calls without memory
      PyErr_SetString(PyExc_SystemError, "the handler has failed and said nothing");
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != nullptr) PyException_SetTraceback(value, trace);
    const Owned kind(type);
    const Owned raised(value);
    const Owned way(trace);
    const Owned before(PyErr_GetHandledException());
    PyErr_SetHandledException(raised.get());
    std::array<PyObject*, 3> given = {call_.get(), handler_.get(), raised.get()};
    const Owned answered(PyObject_Vectorcall(python_.answer_raised, given.data(), given.size(), nullptr));
    PyErr_SetHandledException(before.get());
    return static_cast<bool>(answered);
  }

  [[nodiscard]] PyObject* answer(const Owned& result) {
    const Owned connection = part(call_, names_.connection);
    const Owned encode = part(method_, names_.encode_result);
    const Owned encoding = part(method_, names_.result_encoding);
    if (!connection || !encode || !encoding) return nullptr;
    const Owned payload(PyObject_CallOneArg(encode.get(), result.get()));
    if (!payload) {  // it is not what the schema says: Python encodes it again, and finds the words
      if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
      PyErr_Clear();
      std::array<PyObject*, 3> refused = {call_.get(), handler_.get(), result.get()};
      return PyObject_Vectorcall(python_.answer_one, refused.data(), refused.size(), nullptr);
    }
    const int is_replied = reply(connection, encoding, payload);
    if (is_replied < 0) return nullptr;
    if (is_replied > 0) return PyObject_CallMethodNoArgs(connection.get(), names_.written);
    const Owned ok(PyLong_FromLong(0));
    if (!ok) return nullptr;
    std::array<PyObject*, 5> given = {connection.get(), call_.get(), ok.get(), encoding.get(), payload.get()};
    return PyObject_VectorcallMethod(names_.reply, given.data(), given.size(), nullptr);
  }

  /// Queues the reply of an undisturbed call under the lock of its connection. 1: it is queued; 0: the
  /// ordinary way decides; -1: Python has an error.
  [[nodiscard]] int reply(const Owned& connection, const Owned& encoding, const Owned& payload) {
    const Owned lock = part(connection, names_.lock);
    const Owned session = part(connection, names_.session);
    if (!lock || !session) return -1;
    const Owned held(PyObject_CallMethodNoArgs(lock.get(), names_.acquire));
    if (!held) return -1;
    const int queued = queue(session, encoding, payload);
    const bool is_released = after_error(
        [&] { return static_cast<bool>(Owned(PyObject_CallMethodNoArgs(lock.get(), names_.release))); });
    return is_released ? queued : -1;
  }

  [[nodiscard]] int queue(const Owned& session, const Owned& encoding, const Owned& payload) {
    const Owned in_flight = part(session, names_.in_flight);
    const Owned out = part(session, names_.out);
    const Owned id = part(call_, names_.id);
    Fields fields{.type = kReply, .count = 1};
    std::uint64_t most = 0;
    if (!in_flight || !out || !id) return -1;
    if (!PySet_Check(in_flight.get()) || !PyList_CheckExact(out.get()) ||
        !PyBytes_CheckExact(payload.get()) || !is(call_, names_.state, python_.running) ||
        !is(call_, names_.reply_entries, Py_None) || is(session, names_.state, python_.closed) ||
        !number_in(encoding.get(), 1, fields.flags) || !number_in(id.get(), 4, fields.id) ||
        !is_number_in(call_, names_.route, 2, fields.route) ||
        !is_number_in(session, names_.peer_max_payload, 4, most) ||
        static_cast<std::uint64_t>(PyBytes_GET_SIZE(payload.get())) > most || !is_in_time(call_))
      return PyErr_Occurred() == nullptr ? 0 : -1;
    const Py_ssize_t size = append_small(out.get(), fields, payload.get());
    if (size <= 0) return static_cast<int>(size);
    if (PySet_Discard(in_flight.get(), id.get()) < 0 ||
        PyObject_SetAttr(call_.get(), names_.state, python_.ended) < 0 ||
        !add(session, names_.out_bytes, size) || !add(session, names_.queued, size))
      return -1;
    return 1;
  }

  [[nodiscard]] static bool add(const Owned& object, PyObject* name, Py_ssize_t more) {
    const Owned before = part(object, name);
    const Owned added(PyLong_FromSsize_t(more));
    if (!before || !added) return false;
    const Owned after(PyNumber_Add(before.get(), added.get()));
    return after && PyObject_SetAttr(object.get(), name, after.get()) == 0;
  }

  const Python& python_;
  const ServingNames& names_;
  Owned call_;
  Owned handler_;
  Owned method_;
  Owned function_;
  Owned counters_;
  Owned arguments_;
  Owned one_;
};

}  // namespace

bool make_serving_names() {
  if (serving_names().is_whole) return true;
  PyErr_NoMemory();
  return false;
}

PyObject* run(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 2 || !PyTuple_CheckExact(given[1]) || PyTuple_GET_SIZE(given[1]) != 7) {
    PyErr_SetString(PyExc_TypeError,
                    "run(call, (run, answer_raised, answer_one, current, running, ended, closed))");
    return nullptr;
  }
  const Python python(given[1]);
  return Served(given[0], python).run();
}

PyObject* begin(PyObject* /*module*/, PyObject* const* given, Py_ssize_t count) {
  if (count != 4 || !PyTuple_CheckExact(given[1]) || PyTuple_GET_SIZE(given[1]) != 10) {
    PyErr_SetString(PyExc_TypeError,
                    "begin(call, (begin, ended_by, answer_one, current, running, ended, closed, enter_task, "
                    "leave_task, maybe_await), loop, task)");
    return nullptr;
  }
  const Python python(given[1]);
  return Served(given[0], python).begin(given[2], given[3]);
}

}  // namespace mf::native
