"""slipway_freestanding_archives: C and C++ for the targets of artifacts.

The code of an artifact has no undefined symbols: it has no C library and no
C++ runtime. Therefore no header of either is found here, only the compiler's
own (stdint.h, stddef.h, float.h, immintrin.h, arm_neon.h), and every archive is
checked for symbols that nobody would define.
"""

# What WebAssembly code may do where it may have vectors: every engine that has these has the others.
_WASM_VECTORS = [
    "-msimd128",
    "-mbulk-memory",
    "-mnontrapping-fptoint",
    "-msign-ext",
]

# What core/codegen/support/arm_run_time.c defines.
_ARM_RUN_TIME = [
    "__aeabi_d2lz",
    "__aeabi_d2ulz",
    "__aeabi_f2lz",
    "__aeabi_f2ulz",
    "__aeabi_idiv",
    "__aeabi_idivmod",
    "__aeabi_l2d",
    "__aeabi_l2f",
    "__aeabi_ldivmod",
    "__aeabi_uidiv",
    "__aeabi_uidivmod",
    "__aeabi_ul2d",
    "__aeabi_ul2f",
    "__aeabi_uldivmod",
]

_ARM_32 = [
    "--target=armv7-linux-gnueabihf",
    "-fPIC",
]

# By the names that core/target gives to architectures and their levels.
_FLAGS = {
    "arm-32": _ARM_32 + ["-mfpu=vfpv3-d16"],
    "arm-32-fma": _ARM_32 + ["-mfpu=neon-vfpv4"],
    "arm-32-neon": _ARM_32 + ["-mfpu=neon"],
    "arm-64": [
        "--target=aarch64-linux-gnu",
        "-fPIC",
    ],
    "riscv-64": [
        "--target=riscv64-linux-gnu",
        "-fPIC",
        "-march=rv64gc",
        "-mabi=lp64d",
        # lld 14 relaxes nothing, and refuses what may be.
        "-mno-relax",
    ],
    # A module is linked for one address: it has its memory for itself.
    "wasm-32": ["--target=wasm32-unknown-unknown"],
    "wasm-32-simd128": ["--target=wasm32-unknown-unknown"] + _WASM_VECTORS,
    "x86-64": [
        "--target=x86_64-linux-gnu",
        "-fPIC",
    ],
    "x86-64-v3": [
        "--target=x86_64-linux-gnu",
        "-fPIC",
        "-march=x86-64-v3",
    ],
    "x86-64-v4": [
        "--target=x86_64-linux-gnu",
        "-fPIC",
        "-march=x86-64-v4",
    ],
}

ARCHITECTURES = [
    "arm-32",
    "arm-64",
    "riscv-64",
    "wasm-32",
    "x86-64",
]

# What programs for an architecture have besides.
_RUN_TIME = {
    "arm-32": _ARM_RUN_TIME,
    "arm-32-fma": _ARM_RUN_TIME,
    "arm-32-neon": _ARM_RUN_TIME,
}

# For kernels whose vectors are as wide as the machine's (vectors.h).
VECTOR_ARCHITECTURES = ARCHITECTURES + [
    "arm-32-fma",
    "arm-32-neon",
    "wasm-32-simd128",
    "x86-64-v3",
    "x86-64-v4",
]

# For callable kernels, wherever they are compiled: the same results on every
# architecture (but where vectors.h says otherwise), and a square root that is
# one instruction (math.h).
CALLABLE_COPTS = [
    "-ffp-contract=off",
    "-fno-math-errno",
]

_COMMON = [
    "-O2",
    "-ffreestanding",
    "-nostdlibinc",
    "-fvisibility=hidden",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    # The same bytes from any checkout: caches and small deploys rest on it.
    "-fno-ident",
    "-ffile-compilation-dir=.",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-I.",
]

# By the linker itself, of modules.
_LINKER_DEFINED = [
    "__indirect_function_table",
    "__stack_pointer",
]

_CXX = [
    "-std=c++20",
    "-nostdinc++",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
]

def _compile(ctx, src, architecture):
    is_c = src.extension == "c"
    output = ctx.actions.declare_file("%s.%s/%s.o" % (
        ctx.label.name,
        architecture,
        src.basename[:-len(src.extension) - 1],
    ))
    arguments = ctx.actions.args()
    arguments.add_all(_FLAGS[architecture])
    arguments.add_all(_COMMON)
    arguments.add_all(["-std=c11"] if is_c else _CXX)
    arguments.add_all(ctx.attr.copts)
    arguments.add_all(["-c", src, "-o", output])
    ctx.actions.run(
        executable = "/usr/bin/clang-14" if is_c else "/usr/bin/clang++-14",
        arguments = [arguments],
        inputs = depset(
            [src] + ctx.files.hdrs,
            transitive = [
                dep[CcInfo].compilation_context.headers
                for dep in ctx.attr.deps
            ],
        ),
        outputs = [output],
        mnemonic = "FreestandingCompile",
        progress_message = "Compiling %s for %s" % (src.short_path, architecture),
    )
    return output

_ARCHIVE = """
set -euo pipefail
output="$1" allowed="$2"; shift 2
# D: no times and no owners in the archive.
/usr/bin/llvm-ar-14 rcsD "$output" "$@"
# Defined by one object and used by another is fine; used and never defined is
# what the linker would have to leave undefined in an artifact.
undefined="$(comm -23 \\
    <(/usr/bin/llvm-nm-14 --undefined-only --format=just-symbols --quiet \\
        --no-sort "$@" | grep -vE ':$|^$' | sort -u) \\
    <({ /usr/bin/llvm-nm-14 --defined-only --extern-only --quiet \\
        --format=just-symbols "$@" | grep -vE ':$|^$'; tr ' ' '\\n' <<< "$allowed"; } \\
        | sort -u))"
if [[ -n "$undefined" ]]; then
  echo "$output: undefined symbols:" $undefined >&2
  exit 1
fi
"""

def _freestanding_archives_impl(ctx):
    archives = []
    for architecture in ctx.attr.architectures:
        archive = ctx.actions.declare_file(
            "%s.%s.a" % (ctx.label.name, architecture),
        )
        objects = [_compile(ctx, src, architecture) for src in ctx.files.srcs]
        arguments = ctx.actions.args()
        arguments.add(archive)
        arguments.add(" ".join(
            ctx.attr.allowed_undefined + _LINKER_DEFINED +
            _RUN_TIME.get(architecture, []),
        ))
        arguments.add_all(objects)
        ctx.actions.run_shell(
            command = _ARCHIVE,
            arguments = [arguments],
            inputs = objects,
            outputs = [archive],
            mnemonic = "FreestandingArchive",
        )
        archives.append(archive)
    return [DefaultInfo(
        files = depset(archives),
        runfiles = ctx.runfiles(archives),
    )]

slipway_freestanding_archives = rule(
    doc = "Builds NAME.ARCHITECTURE.a for each of the architectures.",
    implementation = _freestanding_archives_impl,
    attrs = {
        "allowed_undefined": attr.string_list(
            doc = "Symbols that the one who links the archive will define.",
        ),
        "architectures": attr.string_list(
            default = ARCHITECTURES,
            doc = "Of _FLAGS.",
        ),
        "copts": attr.string_list(),
        "deps": attr.label_list(
            doc = "Libraries whose headers srcs include; nothing is linked.",
            providers = [CcInfo],
        ),
        "hdrs": attr.label_list(allow_files = [".h", ".inc"]),
        "srcs": attr.label_list(allow_files = [".c", ".cc"]),
    },
)
