// The example's step, and what a step may do that no campaign may lose a verdict over. HOSTILE names one behaviour, or
// `any`: one of them in so many cases of a thousand as HOSTILE_SHARE says, chosen by the case's own hash. HOSTILE_LOG is
// a file that gets a line for each run: hash and behaviour.
#define tally_step_entry right_step_entry
#include "../../examples/step/step.cpp"  // NOLINT(bugprone-suspicious-include): all of it, under another name
#undef tally_step_entry

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

using Behaviour = std::int32_t (*)(const tally_run& c);

std::int32_t tapped(const tally_run& c, const char* name, std::int32_t dtype, std::int32_t rank,
                    const std::int64_t* shape) {
  const float one = 1;
  c.tap(c.tally, name, dtype, rank, shape, &one, TALLY_HOST);
  return TALLY_RAN;
}

std::int32_t tapped(const tally_run& c, const char* name, std::int32_t dtype, std::vector<std::int64_t> shape) {
  return tapped(c, name, dtype, static_cast<std::int32_t>(shape.size()), shape.data());
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

volatile int sink = 0;
int deeper(int depth) {  // NOLINT(misc-no-recursion)
  char page[4096];
  memset(page, depth, sizeof page);
  sink = sink + page[depth % 4096];
  return deeper(depth + 1) + page[7];
}

const struct Named {
  const char* name;
  Behaviour does;
} behaviours[] = {
    {"segfault",
     [](const tally_run&) -> std::int32_t {
       raise(SIGSEGV);
       return TALLY_RAN;
     }},
    {"null",
     [](const tally_run&) -> std::int32_t {
       *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
       return TALLY_RAN;
     }},
    {"abort", [](const tally_run&) -> std::int32_t { std::abort(); }},
    {"exit", [](const tally_run&) -> std::int32_t { std::exit(0); }},
    {"exit_3", [](const tally_run&) -> std::int32_t { _exit(3); }},
    {"throw", [](const tally_run&) -> std::int32_t { throw 7; }},
    {"stack", [](const tally_run&) -> std::int32_t { return deeper(0); }},
    {"hang", [](const tally_run&) -> std::int32_t { wait_for_ever(); }},
    {"hang_deaf",
     [](const tally_run&) -> std::int32_t {
       for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) signal(each, SIG_IGN);
       wait_for_ever();
     }},
    {"leave_children",
     [](const tally_run&) -> std::int32_t {
       for (int i = 0; i < 2; ++i)
         if (fork() == 0) {
           setsid();
           if (fork() == 0) wait_for_ever();
           _exit(0);
         }
       raise(SIGILL);
       return TALLY_RAN;
     }},
    {"hoard",
     [](const tally_run&) -> std::int32_t {
       for (;;) memset(new char[1 << 24], 1, 1 << 24);
     }},
    {"heap",
     [](const tally_run&) -> std::int32_t {
       char* volatile small = new char[24];
       memset(small, 0x41, 4096);
       for (int i = 0; i < 64; ++i) free(malloc(std::size_t{24} + static_cast<std::size_t>(i)));
       delete[] small;
       return TALLY_RAN;
     }},
    {"twice_freed",
     [](const tally_run&) -> std::int32_t {
       void* volatile memory = malloc(24);
       free(memory);
       free(memory);
       return TALLY_RAN;
     }},
    {"input_written",
     [](const tally_run& c) -> std::int32_t {
       const tally_tensor* x = c.tensor(c.tally, "x");
       ++*static_cast<unsigned char*>(const_cast<void*>(x->data));
       return TALLY_RAN;
     }},
    {"beyond_input",
     [](const tally_run& c) -> std::int32_t {
       const tally_tensor* x = c.tensor(c.tally, "x");
       static_cast<unsigned char*>(const_cast<void*>(x->data))[x->bytes] = 7;
       return TALLY_RAN;
     }},
    {"no_taps", [](const tally_run&) -> std::int32_t { return TALLY_RAN; }},
    {"no_such_tap", [](const tally_run& c) { return tapped(c, "w0/m0/forward/of_another_case.y", TALLY_FP32, {1}); }},
    {"no_tap_name", [](const tally_run& c) { return tapped(c, "nan", TALLY_FP32, {1}); }},
    {"unnamed_tap", [](const tally_run& c) { return tapped(c, nullptr, TALLY_FP32, {1}); }},
    {"other_window", [](const tally_run& c) { return tapped(c, "w99999/schedule/step", TALLY_I64, {}); }},
    {"negative_shape", [](const tally_run& c) { return tapped(c, "w0/m0/loss/loss", TALLY_FP32, {-1}); }},
    {"huge_shape",
     [](const tally_run& c) {
       return tapped(c, "w0/m0/loss/loss", TALLY_FP32,
                     {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 40});
     }},
    {"huge_rank", [](const tally_run& c) { return tapped(c, "w0/m0/loss/loss", TALLY_FP32, 1 << 30, nullptr); }},
    {"unknown_dtype", [](const tally_run& c) { return tapped(c, "w0/m0/loss/in.factor", 99, {}); }},
    {"other_dtype", [](const tally_run& c) { return tapped(c, "w0/m0/loss/in.factor", TALLY_I64, {}); }},
    {"null_tap",
     [](const tally_run& c) -> std::int32_t {
       c.tap(c.tally, "w0/m0/loss/in.factor", TALLY_FP32, 0, nullptr, nullptr, TALLY_HOST);
       return TALLY_RAN;
     }},
    {"wild_tap",
     [](const tally_run& c) -> std::int32_t {
       c.tap(c.tally, "w0/m0/loss/in.factor", TALLY_FP32, 0, nullptr, reinterpret_cast<void*>(8), TALLY_HOST);
       return TALLY_RAN;
     }},
    {"device_tap",
     [](const tally_run& c) -> std::int32_t {
       c.tap(c.tally, "w0/m0/loss/in.factor", TALLY_FP32, 0, nullptr, reinterpret_cast<void*>(8), TALLY_DEVICE);
       return TALLY_RAN;
     }},
    {"nonsense_result", [](const tally_run&) -> std::int32_t { return 77; }},
    {"wrong_claims",
     [](const tally_run& c) -> std::int32_t { return c.claims(c.tally, "{\"nonsense\": 1}"), TALLY_RAN; }},
    {"fails", [](const tally_run& c) -> std::int32_t { return c.say(c.tally, "no luck"), TALLY_FAILED; }},
    {"closes_all",
     [](const tally_run&) -> std::int32_t {
       for (int each = 0; each < 64; ++each) close(each);
       return TALLY_RAN;
     }},
    {"killed",
     [](const tally_run&) -> std::int32_t {
       raise(SIGKILL);
       return TALLY_RAN;
     }},
    {"prints",
     [](const tally_run& c) -> std::int32_t {
       puts("{\"ran\": 1}");
       fflush(stdout);
       return run(&c);
     }},
    {"right", [](const tally_run& c) { return run(&c); }},
};

std::string variable(const char* name) {
  const char* found = getenv(name);
  return found != nullptr ? found : "";
}

const Named& behaviour(const tally_run& c) {
  std::string wanted = variable("HOSTILE");
  constexpr std::size_t count = std::size(behaviours);
  if (wanted == "any") {
    const std::uint64_t drawn = std::strtoull(std::string(c.case_sha256).substr(0, 12).c_str(), nullptr, 16);
    wanted = "right";
    if (drawn % 1000 < std::strtoull(variable("HOSTILE_SHARE").c_str(), nullptr, 10))
      wanted = behaviours[drawn / 1000 % (count - 1)].name;
    if (variable("HOSTILE_LEFT_OUT").find(wanted) != std::string::npos) wanted = "segfault";
  }
  for (const Named& each : behaviours)
    if (each.name == wanted) return each;
  return behaviours[count - 1];
}

std::int32_t hostile(const tally_run* c) {
  const Named& chosen = behaviour(*c);
  if (const std::string log = variable("HOSTILE_LOG"); !log.empty()) {
    const int file = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    const std::string line = std::string(c->case_sha256) + " " + chosen.name + "\n";
    if (write(file, line.data(), line.size()) < 0) return TALLY_FAILED;
    close(file);
  }
  return chosen.does(*c);
}

const tally_step hostile_step{TALLY_STEP_ABI, "hostile", claims, nullptr, hostile};

}  // namespace

extern "C" const tally_step* tally_step_entry(void) { return &hostile_step; }
