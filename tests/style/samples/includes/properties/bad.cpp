#include "reports/page/page.hpp"
#include "tests/any.hpp"
