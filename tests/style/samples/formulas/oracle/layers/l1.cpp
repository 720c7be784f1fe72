// (l1.1)  y = x
const RegisterLayer registered("l1");
