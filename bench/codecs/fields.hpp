// The fields of the payload's types, for libraries that need a list of them: C++20 cannot enumerate fields.
//
//   each_field(value, visit)     visit("pool", value.pool), …
//   each_pair(type, a, b, visit) visit(a.pool, b.pool), … for two types with fields of the same names
#pragma once

#include <type_traits>

#include "payload.hpp"

namespace payload {

template <class T>
inline constexpr const char* kName = nullptr;
template <class T>
concept Described = kName<std::remove_const_t<T>> != nullptr;

}  // namespace payload

#define PAYLOAD_PARENS ()
#define PAYLOAD_EXPAND(...) PAYLOAD_EXPAND3(PAYLOAD_EXPAND3(PAYLOAD_EXPAND3(PAYLOAD_EXPAND3(__VA_ARGS__))))
#define PAYLOAD_EXPAND3(...) PAYLOAD_EXPAND2(PAYLOAD_EXPAND2(PAYLOAD_EXPAND2(PAYLOAD_EXPAND2(__VA_ARGS__))))
#define PAYLOAD_EXPAND2(...) PAYLOAD_EXPAND1(PAYLOAD_EXPAND1(PAYLOAD_EXPAND1(PAYLOAD_EXPAND1(__VA_ARGS__))))
#define PAYLOAD_EXPAND1(...) __VA_ARGS__
#define PAYLOAD_EACH(macro, ...) __VA_OPT__(PAYLOAD_EXPAND(PAYLOAD_EACH_ONE(macro, __VA_ARGS__)))
#define PAYLOAD_EACH_ONE(macro, field, ...) \
  macro(field) __VA_OPT__(PAYLOAD_EACH_AGAIN PAYLOAD_PARENS(macro, __VA_ARGS__))
#define PAYLOAD_EACH_AGAIN() PAYLOAD_EACH_ONE

#define PAYLOAD_FIELD(field) visit(#field, value.field);
#define PAYLOAD_PAIR(field) visit(a.field, b.field);

#define PAYLOAD_TYPE(Type, ...)                                                                   \
  namespace payload {                                                                             \
  template <>                                                                                     \
  inline constexpr const char* kName<Type> = #Type;                                               \
  template <class Value, class Visit>                                                             \
    requires std::is_same_v<std::remove_const_t<Value>, Type>                                     \
  void each_field([[maybe_unused]] Value& value, [[maybe_unused]] Visit&& visit) {                \
    PAYLOAD_EACH(PAYLOAD_FIELD, __VA_ARGS__)                                                      \
  }                                                                                               \
  template <class A, class B, class Visit>                                                        \
  void each_pair(std::type_identity<Type> /*type*/, [[maybe_unused]] A& a, [[maybe_unused]] B& b, \
                 [[maybe_unused]] Visit&& visit) {                                                \
    PAYLOAD_EACH(PAYLOAD_PAIR, __VA_ARGS__)                                                       \
  }                                                                                               \
  }

PAYLOAD_TYPE(Text, value)
PAYLOAD_TYPE(Number, value)
PAYLOAD_TYPE(Pod, a, b, c, d)
PAYLOAD_TYPE(PodList, values)
PAYLOAD_TYPE(IntMap, values)
PAYLOAD_TYPE(StringMap, values)
PAYLOAD_TYPE(IntList, values)
PAYLOAD_TYPE(DoubleList, values)
PAYLOAD_TYPE(StringList, values)
PAYLOAD_TYPE(C0)
PAYLOAD_TYPE(C1, flag, tiny, small, number, big, single, real, text)
PAYLOAD_TYPE(C2, flag, tiny, small, number, big, single, real, text)
PAYLOAD_TYPE(C3, numbers, bigs, singles, reals, texts)
PAYLOAD_TYPE(C4, numbers, names, texts, reals)
PAYLOAD_TYPE(C5, nothing, basic, boxed, lists, maps, more)
PAYLOAD_TYPE(Queue, name, active, max, queued)
PAYLOAD_TYPE(Heartbeat, pool, serial, costs, queues, mode, tags, hosts)
PAYLOAD_TYPE(Hit, doc, score, title, positions, features)
PAYLOAD_TYPE(SearchResult, hits)
PAYLOAD_TYPE(Fields1, a1)
PAYLOAD_TYPE(Fields4, a1, a2, a3, a4)
PAYLOAD_TYPE(Fields16, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16)
PAYLOAD_TYPE(Fields48, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19,
             a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38,
             a39, a40, a41, a42, a43, a44, a45, a46, a47, a48)
PAYLOAD_TYPE(Nested, value, inside)

/// X(Text) … for each type that is measured as a whole.
#define PAYLOAD_WHOLE_TYPES(X) \
  X(Text)                      \
  X(Number)                    \
  X(PodList)                   \
  X(IntMap)                    \
  X(StringMap)                 \
  X(IntList)                   \
  X(DoubleList)                \
  X(StringList)                \
  X(C0)                        \
  X(C1)                        \
  X(C2)                        \
  X(C3)                        \
  X(C4)                        \
  X(C5)                        \
  X(Heartbeat)                 \
  X(SearchResult)              \
  X(Fields1)                   \
  X(Fields4)                   \
  X(Fields16)                  \
  X(Fields48)                  \
  X(Nested)

#undef PAYLOAD_TYPE
#undef PAYLOAD_PAIR
#undef PAYLOAD_FIELD
