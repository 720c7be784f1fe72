#include "oracle/real/real.hpp"
#include "properties/good.hpp"
