// clang-diagnostic-error
int half(int whole) { return whole / two; }
