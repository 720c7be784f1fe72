// (l1.1)  y = x
const RegisterExactLayer registered("l1");
