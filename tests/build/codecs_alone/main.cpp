#include <iostream>

#include "keep.hpp"
#include "mf/codec/hash.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"

template <class T>
bool goes_round(const T& value) {
  const mf::Bytes bytes = mf::to_bytes(value);
  return mf::from_bytes<T>(bytes).value() == value && mf::from_json<T>(mf::to_json(value)).value() == value &&
         mf::hash64(value) != mf::hash37(value);
}

int main() {
  keep::Posting posting;
  posting.positions = {1, 300};
  posting.terms["a"].push_back({.x = 1, .y = 2, .rank = keep::Rank::pagerank});
  keep::Page page;
  page.url = "http://a.org";
  page.value = keep::Value::of_text("b");
  mf::Graph<keep::Site> site;
  site->name = "c";
  site->next = &site.root();
  site->pages.push_back(page);
  std::cout << goes_round(posting) << goes_round(page) << goes_round(site) << goes_round(keep::Missing{"d"})
            << '\n';
}
