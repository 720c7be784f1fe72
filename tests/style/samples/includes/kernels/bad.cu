#include "oracle/layers/exact.hpp"
#include "oracle/tolerance/format.hpp"
#include <boost/multiprecision/mpfr.hpp>
#include "properties/good.hpp"
#include "good.hpp"
