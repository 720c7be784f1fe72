// (twice.1)  y = x
// (twice.1)  y = x + 0
const RegisterExactLayer registered("twice");
