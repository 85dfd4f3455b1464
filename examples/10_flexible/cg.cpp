// cg CONTROLLER RANK SIZE [SYNSETS]: a rank of cg.py in C++: the method of conjugate gradients on the
// Laplacian of WordNet's graph of nouns, plus one on the diagonal. The dot product is example 2 of the paper.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "collectives.hpp"

namespace {

constexpr const char* kNouns = "/usr/share/wordnet/data.noun";

/// Of the first nouns: each with what it is a kind of.
std::set<std::pair<std::size_t, std::size_t>> edges(std::size_t synsets) {
  std::ifstream lines(kNouns);
  if (!lines) throw std::runtime_error(std::string("there is no ") + kNouns + ": apt install wordnet-base");
  std::map<std::string, std::size_t> numbers;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; rows.size() < synsets && std::getline(lines, line);) {
    if (line.starts_with("  ")) continue;
    std::istringstream words(line.substr(0, line.find(" | ")));
    auto& row = rows.emplace_back();
    for (std::string word; words >> word;) row.push_back(word);
    numbers.emplace(row[0], rows.size() - 1);
  }
  std::set<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto& row = rows[number];
    for (auto at = 5 + 2 * std::stoul(row[3], nullptr, 16); at + 2 < row.size(); at += 4) {
      const auto other = numbers.find(row[at + 1]);
      if (row[at] == "@" && row[at + 2] == "n" && other != numbers.end() && other->second != number)
        found.insert(std::minmax(number, other->second));
    }
  }
  return found;
}

/// Some rows of a sparse matrix.
class Rows {
 public:
  Rows(std::size_t synsets, std::size_t first, std::size_t last) : first_(first), neighbours_(last - first) {
    for (const auto& [one, other] : edges(synsets)) {
      if (one >= first && one < last) neighbours_[one - first].push_back(other);
      if (other >= first && other < last) neighbours_[other - first].push_back(one);
    }
  }
  [[nodiscard]] std::size_t first() const noexcept { return first_; }
  [[nodiscard]] std::size_t count() const noexcept { return neighbours_.size(); }
  [[nodiscard]] Vector times(const Vector& x) const {
    Vector products(count());
    for (std::size_t row = 0; row < count(); ++row) {
      const auto& of = neighbours_[row];
      products[row] = (1.0 + static_cast<double>(of.size())) * x[first_ + row];
      for (const auto column : of) products[row] -= x[column];
    }
    return products;
  }

 private:
  const std::size_t first_;
  std::vector<std::vector<std::size_t>> neighbours_;
};

class Solver {
 public:
  explicit Solver(Ranks& ranks)
      : ranks_(ranks), me_(ranks.process()), collectives_(ranks, Collectives::Form::tree) {}

  /// Example 2: the local products, summed by the parent and sent back to all.
  double pdot(const Vector& x, const Vector& y) {
    const auto parent = ranks_.name(0);
    double result = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    if (me_.name() != parent) {
      me_.send({{"dest", parent}, {"result", result}, {"tag", "pdot"}});
      return me_.recv(kLimit, {{"src", parent}, {"tag", "allreduce"}})["result"].to<double>();
    }
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      result += me_.recv(kLimit, {{"tag", "pdot"}})["result"].to<double>();
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      me_.send({{"dest", ranks_.name(rank)}, {"result", result}, {"tag", "allreduce"}});
    return result;
  }

  /// All parts of a vector, one behind the other.
  Vector whole(Vector part, std::size_t padded, std::size_t count) {
    part.resize(padded);
    auto rows = collectives_.gather(part);
    auto all = collectives_.broadcast(rows ? std::move(*rows) : Vector(padded * ranks_.size()));
    all.resize(count);
    return all;
  }

  /// The whole solution, and how many steps it took.
  std::pair<Vector, int> solve(const Rows& rows, const Vector& b, std::size_t padded) {
    constexpr double kTolerance = 1e-10;
    Vector x(rows.count());
    const auto begin = b.begin() + static_cast<std::ptrdiff_t>(rows.first());
    Vector r(begin, begin + static_cast<std::ptrdiff_t>(rows.count()));
    Vector p = r;
    double rr = pdot(r, r);
    int steps = 0;
    for (; rr > kTolerance * kTolerance && steps < static_cast<int>(b.size()); ++steps) {
      const auto ap = rows.times(whole(p, padded, b.size()));
      const double alpha = rr / pdot(p, ap);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * ap[i];
      }
      const double before = std::exchange(rr, pdot(r, r));
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + rr / before * p[i];
    }
    return {whole(x, padded, b.size()), steps};
  }

  void barrier() { collectives_.barrier(); }

 private:
  Ranks& ranks_;
  mf::flex::Process& me_;
  Collectives collectives_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: cg CONTROLLER RANK SIZE [SYNSETS]\n";
    return 2;
  }
  const auto rank = std::stoul(argv[2]);
  const auto size = std::stoul(argv[3]);
  const auto synsets = argc > 4 ? std::stoul(argv[4]) : 3000;
  mf::flex::Node node(argv[1], {.patience = kLimit});
  auto me = node.process("cg." + std::to_string(rank));
  Ranks ranks(me, rank, size);
  Solver solver(ranks);
  const auto padded = (synsets + size - 1) / size;
  const Rows rows(synsets, std::min(rank * padded, synsets), std::min((rank + 1) * padded, synsets));
  Vector b(synsets);
  b[0] = 1.0;
  const auto [x, steps] = solver.solve(rows, b, padded);
  if (rank == 0) {
    const auto product = Rows(synsets, 0, synsets).times(x);
    double error = 0.0;
    for (std::size_t i = 0; i < synsets; ++i) error = std::max(error, std::abs(product[i] - b[i]));
    std::printf("%zu unknowns, %d steps, error %.1e, sum of the solution %.6f\n", synsets, steps, error,
                std::accumulate(x.begin(), x.end(), 0.0));
  }
  solver.barrier();  // no rank leaves while another waits for its message
}
