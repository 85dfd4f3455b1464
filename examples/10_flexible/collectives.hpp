// What collectives.py is for Python: the collective operations of MPI on arrays of float64, each in the naive
// form and as a binomial tree. All ranks, of whichever language, call the same operations in the same order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ranks.hpp"

using Vector = std::vector<double>;

class Collectives {
 public:
  using Operation = std::function<double(double, double)>;
  enum class Form { naive, tree };

  Collectives(Ranks& ranks, Form form) : ranks_(ranks), form_(form) {}

  [[nodiscard]] std::size_t rank() const noexcept { return ranks_.rank(); }
  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }

  /// No rank goes on before all are here.
  void barrier() { (void)allreduce(Vector(1)); }

  /// The root's values, for all ranks; the others' say how many they are.
  Vector broadcast(Vector values, std::size_t root = 0) {
    const auto tag = next("broadcast");
    const auto place = place_below(root);
    if (place.parent) ranks_.mpi_recv_buf(values, *place.parent, tag);
    for (const auto child : place.children) ranks_.mpi_send_buf(values, child, tag);
    return values;
  }

  /// All made into one, for the root. The operation is associative and commutative.
  std::optional<Vector> reduce(Vector values, const Operation& operation = std::plus<>(),
                               std::size_t root = 0) {
    const auto tag = next("reduce");
    const auto place = place_below(root);
    Vector other(values.size());
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
      ranks_.mpi_recv_buf(other, *child, tag);
      std::ranges::transform(values, other, values.begin(), operation);
    }
    if (!place.parent) return values;
    ranks_.mpi_send_buf(values, *place.parent, tag);
    return std::nullopt;
  }

  Vector allreduce(Vector values, const Operation& operation = std::plus<>()) {
    auto reduced = reduce(values, operation);
    return broadcast(reduced ? std::move(*reduced) : std::move(values));
  }

  /// The values of all ranks, as many of each, one behind the other: for the root.
  std::optional<Vector> gather(const Vector& values, std::size_t root = 0) {
    const auto tag = next("gather");
    const auto place = place_below(root);
    // In the order of the ranks as the root sees them: it is the first.
    Vector held(below(root, rank()) * values.size());
    std::ranges::copy(values, held.begin());
    for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
      ranks_.mpi_recv_buf(part(held, *child, root, values.size()), *child, tag);
    if (place.parent) {
      ranks_.mpi_send_buf(held, *place.parent, tag);
      return std::nullopt;
    }
    std::ranges::rotate(held, held.end() - static_cast<std::ptrdiff_t>(root * values.size()));
    return held;
  }

  /// `count` of the root's values for each rank.
  Vector scatter(Vector rows, std::size_t count, std::size_t root = 0) {
    const auto tag = next("scatter");
    const auto place = place_below(root);
    if (place.parent) {
      rows.resize(below(root, rank()) * count);
      ranks_.mpi_recv_buf(rows, *place.parent, tag);
    } else {
      std::ranges::rotate(rows, rows.begin() + static_cast<std::ptrdiff_t>(root * count));
    }
    for (const auto child : place.children) ranks_.mpi_send_buf(part(rows, child, root, count), child, tag);
    rows.resize(count);
    return rows;
  }

  /// `count` values of each rank to each rank, which has them in the order of the ranks.
  Vector all_to_all(const Vector& rows, std::size_t count) {
    if (form_ == Form::naive) {
      auto everything = gather(rows);
      Vector sorted;
      for (std::size_t to = 0; everything && to < size(); ++to) {
        for (std::size_t from = 0; from < size(); ++from) {
          const auto begin = everything->begin() + static_cast<std::ptrdiff_t>((from * size() + to) * count);
          sorted.insert(sorted.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        }
      }
      return scatter(std::move(sorted), rows.size());
    }
    const auto tag = next("all_to_all");
    Vector result = rows;
    const auto with = [&](std::size_t partner) { return std::span(result).subspan(partner * count, count); };
    for (const auto partner : partners()) {
      if (partner < rank()) ranks_.mpi_recv_buf(with(partner), partner, tag);
      ranks_.mpi_send_buf(std::span(rows).subspan(partner * count, count), partner, tag);
      if (partner > rank()) ranks_.mpi_recv_buf(with(partner), partner, tag);
    }
    return result;
  }

 private:
  struct Place {
    std::optional<std::size_t> parent;
    std::vector<std::size_t> children;  // those with the largest subtrees first
  };

  /// Another one for each operation, so that a fast rank's next one is not taken for this.
  [[nodiscard]] std::string next(const std::string& operation) {
    return operation + "." + std::to_string(++round_);
  }
  [[nodiscard]] std::size_t relative(std::size_t rank, std::size_t root) const {
    return (rank + size() - root) % size();
  }
  /// In the tree a rank's parent lacks the lowest of its bits; in the naive form all have the root.
  [[nodiscard]] Place place_below(std::size_t root) const {
    Place place;
    const auto mine = relative(rank(), root);
    if (form_ == Form::naive) {
      if (mine != 0) return {.parent = root, .children = {}};
      for (std::size_t other = size() - 1; other > 0; --other)
        place.children.push_back((root + other) % size());
      return place;
    }
    const auto lowest = mine == 0 ? std::bit_ceil(size() + 1) : mine & (~mine + 1);
    if (mine != 0) place.parent = (mine - lowest + root) % size();
    for (auto step = std::bit_ceil(size()); step != 0; step /= 2)
      if (step < lowest && mine + step < size()) place.children.push_back((mine + step + root) % size());
    return place;
  }
  /// Ranks in the subtree of one, itself included.
  [[nodiscard]] std::size_t below(std::size_t root, std::size_t rank) const {
    const auto mine = relative(rank, root);
    if (mine == 0) return size();
    return form_ == Form::naive ? 1 : std::min(mine & (~mine + 1), size() - mine);
  }
  /// The values of a child and of those below it, in those of this rank.
  [[nodiscard]] std::span<double> part(Vector& held, std::size_t child, std::size_t root,
                                       std::size_t count) const {
    const auto begin = relative(child, root) - relative(rank(), root);
    return std::span(held).subspan(begin * count, below(root, child) * count);
  }
  /// All others, so that in each round each has one partner or none: a tournament.
  [[nodiscard]] std::vector<std::size_t> partners() const {
    const auto rounds = size() + size() % 2 - 1;
    std::vector<std::size_t> found;
    for (std::size_t turn = 0; turn < rounds; ++turn) {
      auto partner = rank() == rounds ? turn : (2 * turn + rounds - rank()) % rounds;
      if (partner == rank()) partner = rounds;
      if (partner < size()) found.push_back(partner);
    }
    return found;
  }

  Ranks& ranks_;
  const Form form_;
  std::size_t round_ = 0;
};
