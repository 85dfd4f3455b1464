// Boost.JSON, compiled once for all test binaries that read vectors.
#include <boost/json/src.hpp>
