// Asio's own code for TLS, for the store in etcd.
#include <boost/asio/ssl/impl/src.hpp>
