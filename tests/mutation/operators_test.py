"""Each operator on a few lines whose mutants can be written down by hand."""
import unittest

from mutant import mutants_of, operators

# operator -> lines of a function's body, and all that the operator makes of them
SNIPPETS = {
    "accumulation_dropped": ("sum += x; sum = __fadd_rn(sum, f(a, b)); y = g(a, b);", {
        "sum = x; sum = __fadd_rn(sum, f(a, b)); y = g(a, b);",
        "sum += x; sum = f(a, b); y = g(a, b);"}),
    "arguments_swapped": ("f(a, b[1], g<c, d>(e)); __fadd_rn(a, b); const S s{.x = a, .y = b}; if (a, b) return;", {
        "f(b[1], a, g<c, d>(e)); __fadd_rn(a, b); const S s{.x = a, .y = b}; if (a, b) return;",
        "f(a, g<c, d>(e), b[1]); __fadd_rn(a, b); const S s{.x = a, .y = b}; if (a, b) return;",
        "f(a, b[1], g<c, d>(e)); __fadd_rn(a, b); const S s{.x = b, .y = a}; if (a, b) return;"}),
    "barrier_dropped": ("a = 1; __syncthreads(); b = 2;", {"a = 1; ; b = 2;"}),
    "bound_moved": ("for (int i = a; i < n; ++i) x = y >= f<int>(i);", {
        "for (int i = a; i <= n; ++i) x = y >= f<int>(i);",
        "for (int i = a; i < n; ++i) x = y > f<int>(i);"}),
    "cast_narrower": ("y = __fmul_rn(a, b); z = static_cast<double>(n);", {
        "y = static_cast<float>(static_cast<_Float16>(__fmul_rn(a, b))); z = static_cast<double>(n);",
        "y = __fmul_rn(a, b); z = static_cast<float>(n);"}),
    "condition_negated": ("if (a == b && c) x = d ? e : f; while (g) h();", {
        "if (a != b && c) x = d ? e : f; while (g) h();",
        "if (a == b || c) x = d ? e : f; while (g) h();",
        "if (a == b && c) x = d ? f : e; while (g) h();",
        "if (a == b && c) x = d ? e : f; while (!(g)) h();"}),
    "constant_changed": ("x = 0.5f; n = 1; m = 32; ok = true;", {
        "x = 0.50390625f; n = 1; m = 32; ok = true;",
        "x = 0.5f; n = 2; m = 32; ok = true;",
        "x = 0.5f; n = 0; m = 32; ok = true;",
        "x = 0.5f; n = 1; m = 33; ok = true;",
        "x = 0.5f; n = 1; m = 32; ok = false;"}),
    "guard_removed": ("if (n == 0) return; if (w) { x = w; }", {
        "if (false) return; if (w) { x = w; }",
        "if (n == 0) return; if (true) { x = w; }"}),
    "index_off_by_one": ("x = a[i]; float b[3]; f([&] { return c; });", {
        "x = a[i + 1]; float b[3]; f([&] { return c; });",
        "x = a[i - 1]; float b[3]; f([&] { return c; });"}),
    "product_swapped": ("x = a * b; float* p = __fdiv_rn(c, d);", {
        "x = a / b; float* p = __fdiv_rn(c, d);",
        "x = a * b; float* p = __fmul_rn(c, d);"}),
    "sign_swapped": ("x = a + b; ++n; y = __fsub_rn(c, -d);", {
        "x = a - b; ++n; y = __fsub_rn(c, -d);",
        "x = a + b; --n; y = __fsub_rn(c, -d);",
        "x = a + b; ++n; y = __fadd_rn(c, -d);",
        "x = a + b; ++n; y = __fsub_rn(c, d);"}),
    "statement_removed": ("int n = f(); n = 2; a.g(n); if (n) { return; }", {
        "int n = f(); ; a.g(n); if (n) { return; }",
        "int n = f(); n = 2; ; if (n) { return; }"}),
}


def bodies(operator, body):
    """All that one operator makes of a function with this body, as bodies again."""
    head, tail = "void function() {\n  ", "\n}\n"
    text = head + body + tail
    found = [m.applied(text) for m in mutants_of("file.cu", text, lambda name: name == operator)]
    return [changed.removeprefix(head).removesuffix(tail) for changed in found]


class Operators(unittest.TestCase):
    def test_every_operator_has_a_snippet(self):
        self.assertEqual(sorted(operators()), sorted(SNIPPETS))

    def test_each_makes_its_mutants_and_no_others(self):
        for operator, (body, expected) in SNIPPETS.items():
            with self.subTest(operator):
                made = bodies(operator, body)

                self.assertEqual(set(made), expected)
                self.assertEqual(len(made), len(expected))

    def test_equal_changes_belong_to_one_operator(self):
        text = "void f() {\n  __syncthreads();\n}\n"

        self.assertEqual([m.operator for m in mutants_of("file.cu", text)], ["barrier_dropped"])


class WhatIsNoCode(unittest.TestCase):
    def test_comments_strings_and_the_preprocessor_stay(self):
        text = ('#include "a+b.hpp"\n#define LIMIT (1 + \\\n  2)\n// x = a + 1;\n/* if (a < b) return;\n   n += 2; */\n'
                'const char* const name = "a + 1, \\" b < 2";\nconst char* raw = R"x(a[0] + ")" 1)x";\n')

        self.assertEqual([m.after for m in mutants_of("file.hpp", text)], [])

    def test_template_heads_registrations_and_errors_stay(self):
        text = ('template <class S, int lanes = 1 + 2>\nvoid f();\nstatic_assert(sizeof(int) == 4);\n'
                'const RegisterKernel registered("adam", {.variant = "x", .count = 3}, adam);\n'
                'void g() {\n  TALLY_SHARED(float, partial, 32);\n  throw Error("a", 1 + 2);\n}\n')

        self.assertEqual([m.after for m in mutants_of("file.cu", text)], [])

    def test_headers_inside_their_inline_namespace_are_code(self):
        text = "namespace tally {\ninline namespace TALLY_SIDE {\nint f() {\n  __syncthreads();\n}\n}\n}\n"

        self.assertEqual([m.operator for m in mutants_of("file.hpp", text)], ["barrier_dropped"])


class Places(unittest.TestCase):
    def test_a_mutant_knows_its_line_its_function_and_its_number_among_equals(self):
        text = "int first() {\n  return 7;\n}\nint second(int a) {\n  ++a;\n  ++a;\n  return a;\n}\n"
        made = mutants_of("file.cpp", text, lambda name: name == "statement_removed")

        self.assertEqual([(m.function, m.line, m.before, m.after, m.nth) for m in made],
                         [("second", 5, "++a;", ";", 1), ("second", 6, "++a;", ";", 2)])

    def test_the_same_text_gives_the_same_mutants_wherever_it_moves(self):
        text = "int f() {\n  return a + b;\n}\n"
        moved = "// a new first line\n\n" + text

        self.assertEqual([m.id for m in mutants_of("file.cpp", text)], [m.id for m in mutants_of("file.cpp", moved)])


if __name__ == "__main__":
    unittest.main()
