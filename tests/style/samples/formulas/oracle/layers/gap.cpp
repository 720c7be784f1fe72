// (gap.1)  y = x
// (gap.3)  dx = dy
const Register<LayerDefinition> registered("gap");
