// Whether a test runs under the address sanitizer, which brings a heap of its own: its memory is neither kept nor
// limited as the program's is.
#pragma once

#if defined(__SANITIZE_ADDRESS__)  // g++ says so
#define TALLY_TEST_IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define TALLY_TEST_IS_SANITIZED
#endif
#endif

namespace tally {

#ifdef TALLY_TEST_IS_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace tally
