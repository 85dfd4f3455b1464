[(struct_body) (enum_body) (service_body) (field_list) (comment)] @fold
