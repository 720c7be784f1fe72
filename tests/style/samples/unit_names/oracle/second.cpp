namespace tally {
namespace {

constexpr int other = 2, most = 4;
using Row = std::vector<int>;
namespace fs = std::filesystem;
using Place = std::pair<int, int>;

using Lanes __attribute__((vector_size(2 * sizeof(double)), may_alias)) = double;

class Plan final : public std::vector<int> {
  int shared_member() { return 0; }
};

bool is_even(double x) { return x == 0; }

template <class T>
T first_of(const std::vector<T>& all) {
  return all[0];
}

const char* const table[] = {"a"};
int taken(int (*with)(int)) { return with(0); }
bool operator==(const Row&, int) { return true; }
template <>
void printed<long>(long);
void Other::run() {}
TEST(Suite, another) {}
static_assert(other == 2);

}  // namespace

namespace {

[[noreturn]] TALLY_INLINE void refuse(int) {}
const char* text = R"(
namespace {
bool zero() {})";  // a name within quotes is none
bool zero();

}  // namespace

int in_the_open(int) { return 2; }

}  // namespace tally
