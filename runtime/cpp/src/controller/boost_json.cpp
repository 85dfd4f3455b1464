// Boost.JSON's own code, for the store in etcd.
#include <boost/json/src.hpp>
