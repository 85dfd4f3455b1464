// collect CONTROLLER RANK SIZE naive|tree: as collect.py, in C++: ranks of both languages make one world.
#include <cmath>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>

#include "collectives.hpp"

namespace {

constexpr std::size_t kCount = 20;

void check(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what + " has given something else");
}

/// The row of a rank.
Vector row(std::size_t rank) {
  Vector values(kCount);
  std::iota(values.begin(), values.end(), static_cast<double>(rank * kCount));
  return values;
}

Vector table(std::size_t size, double plus = 0.0) {
  Vector values(size * kCount);
  std::iota(values.begin(), values.end(), plus);
  return values;
}

void run(Ranks ranks, Collectives::Form form) {
  Collectives all(ranks, form);
  const auto rank = ranks.rank();
  const auto size = ranks.size();
  const auto mine = row(rank);
  all.barrier();
  for (const auto root : {std::size_t{0}, size - 1}) {
    check(all.broadcast(mine, root) == row(root), "broadcast");
    const auto gathered = all.gather(mine, root);
    check(gathered.has_value() == (rank == root), "gather");
    check(!gathered || *gathered == table(size), "gather");
    check(all.scatter(rank == root ? table(size) : Vector(), kCount, root) == mine, "scatter");
    const auto reduced = all.reduce(mine, [](double x, double y) { return std::max(x, y); }, root);
    check(!reduced || *reduced == row(size - 1), "reduce");
  }
  Vector sum(kCount);
  for (std::size_t each = 0; each < size; ++each)
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += row(each)[i];
  check(all.allreduce(mine) == sum, "allreduce");
  Vector by_sender;
  for (std::size_t sender = 0; sender < size; ++sender)
    for (const auto value : mine) by_sender.push_back(value + 1000.0 * static_cast<double>(sender));
  check(all.all_to_all(table(size, 1000.0 * static_cast<double>(rank)), kCount) == by_sender, "all_to_all");
  all.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: collect CONTROLLER RANK SIZE naive|tree\n";
    return 2;
  }
  const auto rank = std::stoul(argv[2]);
  const auto form = std::string(argv[4]) == "tree" ? Collectives::Form::tree : Collectives::Form::naive;
  mf::flex::Node node(argv[1], {.patience = kLimit});
  auto me = node.process("collect." + std::to_string(rank));
  for (const std::size_t chunk_bytes : {std::size_t{64}, std::size_t{1} << 20U})
    run(Ranks(me, rank, std::stoul(argv[3]), chunk_bytes), form);
  std::cout << "rank " << rank << ": all is as it should be" << std::endl;
}
