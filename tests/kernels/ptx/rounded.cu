// What the PTX gate must let pass.
__global__ void rounded(const float* x, float* y) {
  y[threadIdx.x] = __fadd_rn(__fmul_rn(x[threadIdx.x], 0.5f), __fdiv_rn(1.0f, __fsqrt_rn(x[threadIdx.x])));
}
