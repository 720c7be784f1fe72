#include "kernels/good.hpp"
#include "oracle/real/real.hpp"
#include "reports/record/record.hpp"
