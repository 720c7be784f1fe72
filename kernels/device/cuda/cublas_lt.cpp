// GEMM by cublasLt: an entry of its list of heuristics, split along k as the call says.
#include <cublasLt.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/device/cuda/check.hpp"
#include "kernels/device/cuda/library.hpp"
#include "kernels/device/gemm/gemm_backends.hpp"

namespace tally {
namespace {

constexpr int most_algorithms = 64;

/// What of the library is called. Descriptors are its opaque structures, initialised in place.
struct Functions {
  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtMatmul)* multiply = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* heuristics = nullptr;
  decltype(cublasLtMatmulAlgoCheck)* check_algorithm = nullptr;
  decltype(cublasLtMatmulAlgoConfigSetAttribute)* configure = nullptr;
  decltype(cublasLtMatmulAlgoConfigGetAttribute)* configuration = nullptr;
  decltype(cublasLtMatmulAlgoCapGetAttribute)* capability = nullptr;
  decltype(cublasLtMatmulDescInit_internal)* init_product = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* set_product = nullptr;
  decltype(cublasLtMatrixLayoutInit_internal)* init_layout = nullptr;
  decltype(cublasLtMatmulPreferenceInit_internal)* init_preference = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* set_preference = nullptr;

  Functions() {
    void* library = open_library("cublasLt", CUBLAS_VER_MAJOR);
    find(library, "cublasLtCreate", create);
    find(library, "cublasLtMatmul", multiply);
    find(library, "cublasLtMatmulAlgoGetHeuristic", heuristics);
    find(library, "cublasLtMatmulAlgoCheck", check_algorithm);
    find(library, "cublasLtMatmulAlgoConfigSetAttribute", configure);
    find(library, "cublasLtMatmulAlgoConfigGetAttribute", configuration);
    find(library, "cublasLtMatmulAlgoCapGetAttribute", capability);
    find(library, "cublasLtMatmulDescInit_internal", init_product);
    find(library, "cublasLtMatmulDescSetAttribute", set_product);
    find(library, "cublasLtMatrixLayoutInit_internal", init_layout);
    find(library, "cublasLtMatmulPreferenceInit_internal", init_preference);
    find(library, "cublasLtMatmulPreferenceSetAttribute", set_preference);
  }
};

/// Where parts of k may meet.
std::uint32_t reductions(const GemmChoices& choices) {
  return choices.reduced_reduction ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

/// Where `splits` parts do meet.
std::uint32_t reduction(const GemmChoices& choices) {
  if (choices.splits == 1) return CUBLASLT_REDUCTION_SCHEME_NONE;
  return choices.reduced_reduction ? CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

/// One call as the library sees it: C of columns, so that its first operand is our B.
struct Problem {
  cublasLtMatmulDescOpaque_t product{};
  cublasLtMatrixLayoutOpaque_t left{}, right{}, result{};
  cublasLtMatmulPreferenceOpaque_t preference{};

  Problem(const Functions& lt, const GemmCall& call) {
    check_blas(lt.init_product(&product, sizeof product, compute_type(call), type_of(call.compute)));
    set(lt, CUBLASLT_MATMUL_DESC_TRANSA, operation(call.transpose_b));
    set(lt, CUBLASLT_MATMUL_DESC_TRANSB, operation(call.transpose_a));
    layout(lt, left, call.operands, call.transpose_b ? call.n : call.k, call.transpose_b ? call.k : call.n);
    layout(lt, right, call.operands, call.transpose_a ? call.k : call.m, call.transpose_a ? call.m : call.k);
    layout(lt, result, call.result, call.m, call.n);
    check_blas(lt.init_preference(&preference, sizeof preference));
    const auto workspace = static_cast<std::uint64_t>(call.choices.workspace);
    prefer(lt, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
    prefer(lt, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions(call.choices));
    // Rows of a batch begin at any element, and the library knows no kernel for less than an element's alignment.
    const auto operand = static_cast<std::uint32_t>(size_of(call.operands));
    const auto result_element = static_cast<std::uint32_t>(size_of(call.result));
    prefer(lt, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, operand);
    prefer(lt, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, operand);
    prefer(lt, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result_element);
    prefer(lt, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result_element);
  }

 private:
  void set(const Functions& lt, cublasLtMatmulDescAttributes_t attribute, cublasOperation_t value) {
    check_blas(lt.set_product(&product, attribute, &value, sizeof value));
  }
  template <class Value>
  void prefer(const Functions& lt, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
    check_blas(lt.set_preference(&preference, attribute, &value, sizeof value));
  }
  /// Row-major [rows, columns] is columns of the other.
  static void layout(const Functions& lt, cublasLtMatrixLayoutOpaque_t& of, Dtype dtype, std::int64_t rows,
                     std::int64_t columns) {
    check_blas(lt.init_layout(&of, sizeof of, type_of(dtype), static_cast<std::uint64_t>(columns),
                              static_cast<std::uint64_t>(rows), std::max<std::int64_t>(columns, 1)));
  }
};

std::string reduction_in_words(std::uint32_t scheme) {
  switch (scheme) {
    case CUBLASLT_REDUCTION_SCHEME_NONE:
      return "none";
    case CUBLASLT_REDUCTION_SCHEME_INPLACE:
      return "in place";
    case CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE:
      return "in the accumulator's format";
    case CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE:
      return "in the result's format";
    default:
      return "scheme " + std::to_string(scheme);
  }
}

/// "HMMA, accumulator fp32, operands fp16": the flags that are set, of those that products of ours may have.
std::string arithmetic_in_words(std::uint64_t flags) {
  struct Flag {
    std::uint64_t bit;
    const char* words;
  };
  constexpr Flag known[] = {{CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA, "FMA"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA, "HMMA"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F, "accumulator fp16"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F, "accumulator fp32"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F, "operands fp16"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF, "operands bf16"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32, "operands TF32"},
                            {CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F, "operands fp32"}};
  std::string words;
  for (const Flag& each : known) {
    if ((flags & each.bit) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::string(each.words);
    flags &= ~each.bit;
  }
  return flags == 0 ? words : words + ", others " + std::to_string(flags);
}

class CublasLt {
 public:
  CublasLt() { check_blas(lt_.create(&handle_)); }

  bool gemm(Stream& stream, const GemmCall& call) {
    const std::lock_guard lock(mutex_);
    Problem problem(lt_, call);
    const std::optional<cublasLtMatmulAlgo_t>& algorithm = remembered(problem, call);
    if (!algorithm) return false;
    const Scalar one(call, 1), beta(call, call.beta);
    const auto bytes = static_cast<std::size_t>(call.choices.workspace);
    check_blas(lt_.multiply(handle_, &problem.product, one.data(), call.b, &problem.left, call.a, &problem.right,
                            beta.data(), call.c, &problem.result, call.c, &problem.result, &*algorithm,
                            workspace_.of(bytes), bytes, static_cast<cudaStream_t>(stream.handle())));
    return true;
  }

  std::vector<ListedAlgorithm> list(const GemmCall& call, std::size_t most) {
    const std::lock_guard lock(mutex_);
    Problem problem(lt_, call);
    std::vector<ListedAlgorithm> all;
    for (const cublasLtMatmulHeuristicResult_t& each : listed(problem)) {
      if (all.size() == most) break;
      if (each.state == CUBLAS_STATUS_SUCCESS) all.push_back(in_words(each.algo));
    }
    return all;
  }

 private:
  std::vector<cublasLtMatmulHeuristicResult_t> listed(Problem& problem) {
    std::vector<cublasLtMatmulHeuristicResult_t> found(most_algorithms);
    int count = 0;
    const cublasStatus_t status =
        lt_.heuristics(handle_, &problem.product, &problem.left, &problem.right, &problem.result, &problem.result,
                       &problem.preference, most_algorithms, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};  // the library's word for an empty list
    check_blas(status);
    found.resize(static_cast<std::size_t>(count));
    return found;
  }

  ListedAlgorithm in_words(const cublasLtMatmulAlgo_t& algorithm) const {
    std::int32_t splits = 0;
    std::uint32_t scheme = 0;
    std::uint64_t flags = 0;
    std::size_t written = 0;
    check_blas(lt_.configuration(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits, sizeof splits, &written));
    check_blas(lt_.configuration(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme, &written));
    check_blas(lt_.capability(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &written));
    return {"", splits, reduction_in_words(scheme), arithmetic_in_words(flags)};
  }

  /// chosen() of each kind of call once: the library takes far longer to list its algorithms than to multiply.
  const std::optional<cublasLtMatmulAlgo_t>& remembered(Problem& problem, const GemmCall& call) {
    const GemmChoices& by = call.choices;
    const Key key(call.m, call.n, call.k, call.transpose_a, call.transpose_b, call.operands, call.result, call.compute,
                  call.tf32, by.math, by.reduced_reduction, by.splits, by.workspace, by.algorithm);
    const auto found = known_.find(key);
    return found != known_.end() ? found->second : known_.emplace(key, chosen(problem, by)).first->second;
  }

  /// The entry asked for; without one, the first that can be split as asked.
  std::optional<cublasLtMatmulAlgo_t> chosen(Problem& problem, const GemmChoices& choices) {
    const std::vector<cublasLtMatmulHeuristicResult_t> found = listed(problem);
    const auto entries = static_cast<std::int64_t>(found.size());
    const bool named = choices.algorithm >= 0;
    for (std::int64_t i = named ? choices.algorithm : 0; i < (named ? choices.algorithm + 1 : entries); ++i) {
      if (i >= entries || found[static_cast<std::size_t>(i)].state != CUBLAS_STATUS_SUCCESS) continue;
      cublasLtMatmulAlgo_t algorithm = found[static_cast<std::size_t>(i)].algo;
      if (splits_as_asked(problem, choices, algorithm)) return algorithm;
    }
    if (!named) return std::nullopt;
    throw CudaError("cublasLt lists " + std::to_string(entries) + " algorithms; algorithm " +
                        std::to_string(choices.algorithm) + " in " + std::to_string(choices.splits) +
                        " parts of k (0: its own) is not among them",
                    std::source_location::current());
  }

  bool splits_as_asked(Problem& problem, const GemmChoices& choices, cublasLtMatmulAlgo_t& algorithm) {
    if (choices.splits == 0) return true;
    const auto splits = static_cast<std::int32_t>(choices.splits);
    const std::uint32_t scheme = reduction(choices);
    check_blas(lt_.configure(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits, sizeof splits));
    check_blas(lt_.configure(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme));
    cublasLtMatmulHeuristicResult_t result{};
    return lt_.check_algorithm(handle_, &problem.product, &problem.left, &problem.right, &problem.result,
                               &problem.result, &algorithm, &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= static_cast<std::size_t>(choices.workspace);
  }

  /// All of a call that its algorithm depends on; neither addresses nor beta.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, Dtype, Dtype, Dtype, bool,
                         GemmChoices::Math, bool, std::int64_t, std::int64_t, std::int64_t>;

  Functions lt_;
  std::mutex mutex_;
  std::map<Key, std::optional<cublasLtMatmulAlgo_t>> known_;
  cublasLtHandle_t handle_ = nullptr;
  Workspace workspace_;
};

CublasLt& cublas_lt() {
  static CublasLt one;
  return one;
}

}  // namespace

bool cublas_lt_gemm(Stream& stream, const GemmCall& call) { return cublas_lt().gemm(stream, call); }

std::vector<ListedAlgorithm> cublas_lt_list(const GemmCall& call, std::size_t most) {
  return cublas_lt().list(call, most);
}

}  // namespace tally
