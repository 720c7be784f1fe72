#include <boost/multiprecision/mpfr.hpp>

#include "good.hpp"
#include "oracle/layers/exact.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/good.hpp"
