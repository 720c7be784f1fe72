#include "reports/html/page.hpp"
#include "tests/any.hpp"
