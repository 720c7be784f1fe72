/* A training step of your own as a subject of Tally: what a shared library exports, and what it is handed.
 *
 * Plain C99, nothing of Tally is linked. The library exports one function, `tally_step_entry`, and Tally calls `run` of
 * what it returns once for every case: it trains on the case's tensors and hands over what every stage read and left,
 * one tap at a time (kernels/trace/trace.md names the taps). Every pointer that Tally hands out is valid until `run`
 * returns, and read-only; every pointer that a library hands over is read before the call returns. One case at a time,
 * in one thread. No exception may leave `run`. kernels/subjects/plugin/plugin.md says how such a library is judged. */
#ifndef TALLY_SUBJECT_H
#define TALLY_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. A library that was compiled against another one is refused before anything runs. */
#define TALLY_STEP_ABI 1

/* Formats of elements; fp16 and bf16 are 16 bits, in the machine's byte order. */
enum { TALLY_FP32 = 0, TALLY_FP16 = 1, TALLY_BF16 = 2, TALLY_I64 = 3, TALLY_U8 = 4 };

/* Where the memory of a tap is. Device memory is the current CUDA device's. */
enum { TALLY_HOST = 0, TALLY_DEVICE = 1 };

/* What `run` returns. Declined: this case asks for something that the step does not do, and it counts as not run; failed:
 * the step tried and could not, and the case fails. Both with a reason, by `say`. */
enum { TALLY_RAN = 0, TALLY_DECLINED = 1, TALLY_FAILED = 2 };

/* Row-major elements. A scalar has rank 0 and one element. */
typedef struct tally_tensor {
  const char* name; /* as in the case: "x", "target", "fc1.weight", "exp_avg.fc1.weight" */
  int32_t dtype;
  int32_t rank;
  const int64_t* shape;
  const void* data;
  size_t bytes;
} tally_tensor;

/* One case, and what a step may ask and say while it runs it. Every function takes `tally` as its first argument. */
typedef struct tally_run {
  void* tally;             /* Tally's own */
  const char* case_json;   /* the case file (oracle/case.md), every default written out, `tensors` left empty */
  const char* case_sha256; /* of the canonical case: 64 hexadecimal digits */
  size_t tensor_count;     /* the case's tensors, sorted by name */
  const tally_tensor* tensors;

  /* The case's tensor of that name; NULL where it has none. */
  const tally_tensor* (*tensor)(void* tally, const char* name);

  /* Values of the case by a JSON pointer, such as "/recipe/optimizer/kind" or "/windows/0/1", so that no library needs a
   * reader of JSON. `text`: a string, or a number as it is written, "true" or "false"; NULL where there is nothing.
   * `number`: the nearest binary64; NaN where there is no number. `count`: how many elements a list has, or members an
   * object; -1 where it is neither. */
  const char* (*text)(void* tally, const char* pointer);
  double (*number)(void* tally, const char* pointer);
  int64_t (*count)(void* tally, const char* pointer);

  /* Hands over one tap: "w0/m1/forward/fc1.y". 0 where it was taken. Anything else: the case has no such tap, or one of
   * another format or shape; nothing was read, the case fails with the reason, and `run` may as well return. */
  int (*tap)(void* tally, const char* name, int32_t dtype, int32_t rank, const int64_t* shape, const void* data,
             int32_t memory);

  /* What this very case is computed by, in place of the library's `claims`, as JSON (kernels/trace/trace.md, Claims). */
  void (*claims)(void* tally, const char* json);

  /* Why the case is declined, or failed. The last word counts. */
  void (*say)(void* tally, const char* reason);
} tally_run;

typedef struct tally_step {
  uint32_t abi;       /* TALLY_STEP_ABI */
  const char* name;   /* for reports */
  const char* claims; /* how it computes, as JSON; NULL: every case says so by itself */
  const char* groups; /* fused stages, "unscale..optimizer", one a line; NULL: taps may miss where a later one shows */
  int32_t (*run)(const tally_run* run);
} tally_step;

#if defined(__GNUC__)
#define TALLY_STEP_EXPORT __attribute__((visibility("default")))
#else
#define TALLY_STEP_EXPORT
#endif

/* The one function that a library exports. What it returns lives as long as the library. NULL: it cannot run here. */
TALLY_STEP_EXPORT const tally_step* tally_step_entry(void);

#ifdef __cplusplus
}
#endif
#endif
