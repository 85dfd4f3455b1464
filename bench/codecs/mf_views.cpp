// mf itself, tier memcpy read in place: a view over aligned bytes. There is nothing to serialize.
#include "mf/codec/view.hpp"

#include "payload.hpp"
#include "systems.hpp"
#include "values.hpp"

namespace bench_codecs {
namespace {

template <class Element>
class View final : public Codec {
 public:
  explicit View(std::vector<Element> values) : values_(std::move(values)) {}

  [[nodiscard]] std::size_t bytes() const override { return sizeof(Element) * values_.size(); }
  [[nodiscard]] const char* mistake() override {
    const auto seen = mf::view<Element>(received());
    return seen && seen->size() == values_.size() && seen->back() == values_.back() ? nullptr
                                                                                    : "not the values";
  }
  [[nodiscard]] bool does(Step step) const override { return step == Step::deserialize; }

  void run(Step /*step*/, std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      keep(values_);
      keep(mf::view<Element>(received()));
    }
  }

 private:
  [[nodiscard]] std::span<const std::byte> received() const { return std::as_bytes(std::span(values_)); }

  std::vector<Element> values_;
};

}  // namespace

void register_mf_views(Entries& entries) {
  entries.push_back({"list_i32_100k", "mf/memcpy/view",
                     [] { return std::make_unique<View<std::int32_t>>(ints(100'000).values); }});
  entries.push_back({"list_pod_100k", "mf/memcpy/view",
                     [] { return std::make_unique<View<payload::Pod>>(pods(100'000).values); }});
}

}  // namespace bench_codecs
