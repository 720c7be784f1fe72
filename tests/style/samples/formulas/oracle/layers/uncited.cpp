// (uncited.1)  y = x

const RegisterLayer registered("uncited");
