// Compiles Boost.JSON's implementation, for the store in etcd.
#include <boost/json/src.hpp>
