// (good.1) and (good.2), (gap.1) and (gap.3), (twice.1), (l1.1).
// (goood.1) is misspelt, (l1.2) is not there.
float x = f(x.1) + g(value.1);  // (x.1), (v2.1) and (0.5) are no labels
const char* text = "// (text.1)";  // but (after_text.1) is one
const char quote = '"';  // (after_quote.1)
/* (block.1)
   (block.2) */
const int many = 1'000;  // (after_digits.1)
const char* raw = R"x(// (raw.1)
// (raw.2))x";  // (after_raw.1)
