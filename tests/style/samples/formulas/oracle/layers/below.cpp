#include "x.hpp"

// (below.1)  y = x
const RegisterLayer registered("below");
