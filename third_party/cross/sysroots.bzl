"""Toolchains for the architectures of boards: clang-14 and lld over Debian's libraries for them.

`deploy/sysroot` unpacks those libraries into the user's cache. A folder of the
user's is no place that a BUILD file can name: therefore a repository.
"""

# By the names that core/target gives to architectures: LLVM's triple, what the
# compiler has to know besides, and where the libraries are if not below the
# user's folder. `deploy/sysroot` has Debian's word for each of the others.
ARCHITECTURES = {
    "arm-32": struct(
        triple = "armv7-linux-gnueabihf",
        # What Debian's libraries are made for. Their times have 32 bits, so that ours must: they end in 2038.
        flags = [
            "-mfpu=vfpv3-d16",
            "-D_FILE_OFFSET_BITS=64",
        ],
        sysroot = None,
    ),
    "arm-64": struct(
        triple = "aarch64-linux-gnu",
        flags = [],
        sysroot = None,
    ),
    # For what needs no library but C's: Debian 12 has no others. lld 14 relaxes nothing, and refuses what may be.
    "riscv-64": struct(
        triple = "riscv64-linux-gnu",
        flags = [
            "-march=rv64gc",
            "-mabi=lp64d",
            "-mno-relax",
        ],
        sysroot = "/usr/riscv64-linux-gnu",
    ),
}

_TOOLCHAIN = """
cc_toolchain(
    name = "{architecture}",
    all_files = ":tools",
    ar_files = ":tools",
    as_files = ":tools",
    compiler_files = ":tools",
    dwp_files = ":tools",
    linker_files = ":tools",
    objcopy_files = ":tools",
    strip_files = ":tools",
    supports_param_files = 1,
    toolchain_config = ":{architecture}_config",
)

cc_toolchain_config(
    name = "{architecture}_config",
    abi_libc_version = "local",
    abi_version = "local",
    compile_flags = {flags} + [
        "-fstack-protector",
        "-Wall",
        "-Wthread-safety",
        "-fno-omit-frame-pointer",
    ],
    # Not "clang", for which Bazel would want a module map of all system headers.
    compiler = "clang-cross",
    coverage_compile_flags = [],
    coverage_link_flags = [],
    cpu = "{architecture}",
    cxx_builtin_include_directories = [
        "{sysroot}",
        "/usr/lib/llvm-14/lib/clang/14.0.6/include",
        "/usr/lib/clang/14.0.6/include",
    ],
    cxx_flags = ["-std=c++20"],
    dbg_compile_flags = ["-g"],
    host_system_name = "local",
    link_flags = {flags} + [
        "-fuse-ld=lld-14",
        "-Wl,-z,relro,-z,now",
    ],
    link_libs = ["-lm"],
    opt_compile_flags = [
        "-g0",
        "-O2",
        "-D_FORTIFY_SOURCE=1",
        "-DNDEBUG",
        "-ffunction-sections",
        "-fdata-sections",
    ],
    # At a fixed address a binary has no relocations, a megabyte of an agent (DESIGN.md). Functions that are alike become one
    # where nobody takes their addresses.
    opt_link_flags = [
        "-no-pie",
        "-Wl,-O2",
        "-Wl,--gc-sections",
        "-Wl,--icf=safe",
    ],
    supports_start_end_lib = True,
    target_libc = "local",
    target_system_name = "{triple}",
    tool_paths = {{
        "ar": "/usr/bin/llvm-ar-14",
        "cpp": "/usr/bin/clang-cpp-14",
        "dwp": "/usr/bin/llvm-dwp-14",
        "gcc": "clang",
        "gcov": "/usr/bin/llvm-cov-14",
        "ld": "/usr/bin/ld.lld-14",
        "llvm-cov": "/usr/bin/llvm-cov-14",
        "nm": "/usr/bin/llvm-nm-14",
        "objcopy": "/usr/bin/llvm-objcopy-14",
        "objdump": "/usr/bin/llvm-objdump-14",
        "strip": "/usr/bin/llvm-strip-14",
    }},
    toolchain_identifier = "{architecture}",
    unfiltered_compile_flags = [
        "-no-canonical-prefixes",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)
"""

_SUITE = """
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

# Where the sysroots are, for who runs what was linked with them.
exports_files(["folder"])

filegroup(
    name = "tools",
    srcs = ["clang"],
)

cc_toolchain_suite(
    name = "suite",
    toolchains = {{
{entries}
    }},
)
"""

def _sysroots_impl(repository_ctx):
    environment = repository_ctx.os.environ
    folder = environment.get("SLIPWAY_SYSROOTS") or (
        environment.get("HOME", "/root") + "/.cache/slipway/sysroots"
    )
    repository_ctx.symlink(Label("//third_party/cross:clang.sh"), "clang")
    build = _SUITE.format(entries = "\n".join([
        '        "{name}": ":{name}",\n        "{name}|clang-cross": ":{name}",'.format(name = name)
        for name in ARCHITECTURES
    ]))
    for name, architecture in ARCHITECTURES.items():
        sysroot = architecture.sysroot or folder + "/" + name
        build += _TOOLCHAIN.format(
            architecture = name,
            flags = repr([
                "--target=" + architecture.triple,
                "--sysroot=" + sysroot,
            ] + architecture.flags),
            sysroot = sysroot,
            triple = architecture.triple,
        )
    repository_ctx.file("folder", folder + "\n")
    repository_ctx.file("BUILD", build)

cross_sysroots = repository_rule(
    implementation = _sysroots_impl,
    environ = [
        "HOME",
        "SLIPWAY_SYSROOTS",
    ],
)
