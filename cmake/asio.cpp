// The one translation unit that holds Asio's own code; every other file sees declarations
// (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/version.hpp>
#if BOOST_VERSION < 108100
#error \
    "MF/IDL needs Boost 1.81 or newer, and an older one is found first: set MF_BOOST_INCLUDE, and look at CPATH"
#endif
#include <boost/asio/impl/src.hpp>
