namespace tally {
namespace {

constexpr int most = 3, least{1};
using Row = std::vector<int>;
namespace fs = std::filesystem;
using Place = std::string;

using Lanes __attribute__((vector_size(4 * sizeof(double)), may_alias)) = double;

struct Plan {
  int shared_member() { return 0; }
};

bool is_even(long x) { return x % 2 == 0; }

template <class T>
requires(sizeof(T) == 4) T first_of(const std::map<std::string, T (*)(int)>& all);

const std::map<std::string, int> table{{"zero", 0}};  // zero(
decltype(auto) taken(const Plan& plan) { return plan; }
bool operator==(const Plan&, const Plan&) { return true; }
template <>
void printed<int>(int);
void Plan::run() {}
TEST(Suite, name) {}
static_assert(most == 3);
[[noreturn]] void refuse(const std::string& why);

}  // namespace

int in_the_open() { return 1'000; }

}  // namespace tally
