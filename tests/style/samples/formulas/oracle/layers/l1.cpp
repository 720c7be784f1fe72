// (l1.1)  y = x
const Register<LayerDefinition> registered("l1");
