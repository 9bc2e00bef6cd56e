// Boost.JSON, compiled here once instead of linked.
#include <boost/json/src.hpp>
