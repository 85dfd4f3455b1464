#include "protocol/descriptor_tree.hpp"

#include <algorithm>
#include <utility>

namespace mf::protocol {
namespace {

constexpr std::size_t kMaxLines = 100'000;

/// Returns the text before `separator`, which is dropped; `text` becomes the text after it.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

class TreeReader {
 public:
  explicit TreeReader(DescriptorTree& tree) noexcept : tree_(tree) {}

  void line(std::string_view text) {
    const std::size_t depth = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(depth);
    if (text.empty()) return;
    const std::string_view word = take_until(text, ' ');
    switch (depth) {
      case 0:
        return top(word, text);
      case 1:
        return in_top(word, text);
      case 2:
        return in_method(word, text);
      default:
        if (members_ != nullptr) members_->push_back({word, text});
    }
  }

 private:
  void top(std::string_view word, std::string_view rest) {
    type_ = nullptr;
    method_ = nullptr;
    members_ = nullptr;
    if (word == "service" || word == "topic") {
      tree_.service = rest;
    } else if (word == "type") {
      const std::string_view name = take_until(rest, ' ');
      type_ = &tree_.types[name];
      type_->head = rest;
    }
  }

  void in_top(std::string_view word, std::string_view rest) {
    members_ = nullptr;
    if (type_ != nullptr) {
      type_->members.push_back({word, rest});
    } else if (word == "per") {
      tree_.per = rest;
    } else if (word == "value") {
      tree_.value = rest;
    } else if (word == "method") {
      method_ = &tree_.methods.emplace_back();
      method_->name = rest;
    }
  }

  void in_method(std::string_view word, std::string_view rest) {
    members_ = nullptr;
    if (method_ == nullptr) return;
    if (word == "oneway") {
      method_->oneway = true;
    } else if (word == "params") {
      method_->params_tier = rest;
      members_ = &method_->params;
    } else if (word == "results") {
      method_->results_tier = rest;
      members_ = &method_->results;
    } else if (word == "params_stream") {
      method_->params_stream = rest;
    } else if (word == "results_stream") {
      method_->results_stream = rest;
    } else if (word == "replicated") {
      method_->replicated = rest;
    } else if (word == "throws") {
      method_->throws.push_back({rest, {}});
    }
  }

  DescriptorTree& tree_;
  DescriptorType* type_ = nullptr;
  DescriptorMethod* method_ = nullptr;
  DescriptorMembers* members_ = nullptr;
};

}  // namespace

std::string_view DescriptorType::member() const noexcept {
  std::string_view rest = head;
  const std::string_view kind = take_until(rest, ' ');
  if (kind == "enum") return "value";
  if (kind == "flags") return "bit";
  return kind == "union" ? "alternative" : "field";
}

bool DescriptorType::numbered() const noexcept {
  return member() == "alternative" || head.ends_with(" archive");
}

DescriptorTree DescriptorTree::read(std::string_view text) {
  DescriptorTree tree;
  TreeReader reader(tree);
  for (std::size_t lines = 0; !text.empty() && lines < kMaxLines; ++lines)
    reader.line(take_until(text, '\n'));
  return tree;
}

const DescriptorMethod* DescriptorTree::method(std::string_view name) const noexcept {
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace mf::protocol
