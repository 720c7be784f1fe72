// (gap.1)  y = x
// (gap.3)  dx = dy
const RegisterLayer registered("gap");
