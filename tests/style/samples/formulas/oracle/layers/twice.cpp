// (twice.1)  y = x
// (twice.1)  y = x + 0
const Register<LayerDefinition> registered("twice");
