#include "x.hpp"

// (below.1)  y = x
const RegisterExactLayer registered("below");
