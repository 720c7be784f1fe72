"""A value that goes through a narrower format: fp32 through fp16, binary64 through fp32."""
ROUNDED = {"__fadd_rn", "__fsub_rn", "__fmul_rn", "__fdiv_rn", "__fsqrt_rn", "__fmaf_rn", "__shfl_xor_sync", "to_float",
           "det_exp", "det_exp2", "det_log", "det_tanh", "det_erf"}


def is_cast_to(source, i, type_name):
    return source.tokens[i].text == "static_cast" and source.is_mark(i + 1, "<") and (
        source.between(i, i + 3) == f"static_cast<{type_name}>")


def mutants(source):
    for i, token in enumerate(source.tokens):
        if token.text in ROUNDED and source.is_mark(i + 1, "("):
            last = source.partner[i + 1]
        elif is_cast_to(source, i, "float"):
            last = source.partner[i + 4]
        elif is_cast_to(source, i, "double"):
            yield i + 2, i + 2, "float"
            continue
        else:
            continue
        yield i, last, f"static_cast<float>(static_cast<_Float16>({source.between(i, last)}))"
