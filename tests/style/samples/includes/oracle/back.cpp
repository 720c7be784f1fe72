#include "kernels/good.hpp"
#include "reports/record/record.hpp"
#include "oracle/real/real.hpp"
