// Element by element, and (v2.1) or (0.5) are no labels.
// (good.1)  y = x
// (good.2)  dx = dy
#include "x.hpp"
/// (good.1) again, in its own file.
const Register<LayerDefinition> registered("good");
