// The one translation unit that holds Asio's own code; every other file sees declarations
// (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
