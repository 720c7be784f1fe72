// (uncited.1)  y = x

const RegisterExactLayer registered("uncited");
