// (uncited.1)  y = x

const Register<LayerDefinition> registered("uncited");
