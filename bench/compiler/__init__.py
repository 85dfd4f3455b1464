"""What the compiler costs, beside protoc, capnp and flatc on the same schema."""
