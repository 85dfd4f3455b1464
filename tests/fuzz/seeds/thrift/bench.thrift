// The same service for Thrift, a peer of the benches.
namespace cpp bench_thrift

struct Item { 1: i32 id, 2: string name }

service Bench {
  i32 following(1: i32 x),
  i32 look_up(1: i32 id, 2: string name),
  list<i32> look_up_all(1: list<Item> items),
  binary echo(1: binary data),
}
