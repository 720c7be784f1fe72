// What the PTX gate must refuse: an approximation, a plain product and a float atomic.
__global__ void fast_exponential(const float* x, float* y, float* sum) {
  y[threadIdx.x] = __expf(x[threadIdx.x]) * x[threadIdx.x];
  atomicAdd(sum, y[threadIdx.x]);
}
