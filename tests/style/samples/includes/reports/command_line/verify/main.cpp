#include "oracle/real/real.hpp"
#include "kernels/good.hpp"
#include "properties/good.hpp"
#include "reports/command_line/lab/studies.hpp"
