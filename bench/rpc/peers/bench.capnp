# The same service for Cap'n Proto, a peer of the benches.
@0xc3a1f0b2d4e59687;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bench_capnp");

interface Bench {
  struct Item {
    id @0 :Int32;
    name @1 :Text;
  }

  next @0 (x :Int32) -> (x :Int32);
  lookUp @1 (id :Int32, name :Text) -> (x :Int32);
  lookUpAll @2 (items :List(Item)) -> (x :List(Int32));
  echo @3 (data :Data) -> (data :Data);
}
