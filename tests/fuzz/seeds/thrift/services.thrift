/** A base. */
service Base { void ping(), oneway void forget(1: i32 id) }
# behind
service Store extends Base {
  set<uuid> find(1: string name, 2: i64 most = -1) throws (1: Wrong wrong) // why
  async bool has(1: Node node)
}
exception Wrong { 1: string why } (annotated = "yes")
struct Node { 1: optional list<Node> below, 2: Node & next (cpp.ref = "1") }
senum Old { "a" "b" }
