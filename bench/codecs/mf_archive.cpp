// mf itself: tier archive, for the same types.
#include "convert.hpp"
#include "mf.hpp"
#include "payload/archived.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace bench_codecs {
namespace {

template <class T>
struct ArchivedOf;

#define ARCHIVED(Type)                  \
  template <>                           \
  struct ArchivedOf<payload::Type> {    \
    using Is = payload::archived::Type; \
  };
PAYLOAD_WHOLE_TYPES(ARCHIVED)
#undef ARCHIVED

template <class T>
struct Archive : Ours<typename ArchivedOf<T>::Is> {
  using Value = typename ArchivedOf<T>::Is;
  static void make(const T& value, Value& made) { convert(value, made); }
  static bool same(const Value& back, const T& value) {
    T plain{};
    convert(back, plain);
    return plain == value;
  }
};

}  // namespace

void register_mf_archive(Entries& entries) {
  add_works<Archive>(entries, "mf/archive");
}

}  // namespace bench_codecs
