#include "x.hpp"

// (below.1)  y = x
const Register<LayerDefinition> registered("below");
