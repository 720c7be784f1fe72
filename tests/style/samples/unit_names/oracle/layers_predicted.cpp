namespace tally {
namespace {

bool is_even(float x) { return x == 0; }

}  // namespace
}  // namespace tally
