"""What the compiler costs, compared with protoc, capnp and flatc on the same schema."""
