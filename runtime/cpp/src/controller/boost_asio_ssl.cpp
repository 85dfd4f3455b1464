// Compiles Asio's TLS implementation, for the store in etcd.
#include <boost/asio/ssl/impl/src.hpp>
