"""What bare runners are, and run: C without a C library."""

load("//tests/layering:layers.bzl", "layer_visibility")

_COPTS = [
    "-std=c11",
    "-Os",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-fno-asynchronous-unwind-tables",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
] + select({
    # What would choose an instruction while running is in a library.
    "//third_party/cross:is_arm_64": ["-mno-outline-atomics"],
    "//conditions:default": [],
})

# What a sanitizer calls is in a library, and agents have such files inside of them whatever they are built with.
_FLAGS = [
    "//command_line_option:copt",
    "//command_line_option:linkopt",
]

def _plain_transition_impl(settings, attr):
    return {
        option: [flag for flag in settings[option] if "sanitize" not in flag]
        for option in _FLAGS
    }

_plain_transition = transition(
    implementation = _plain_transition_impl,
    inputs = _FLAGS,
    outputs = _FLAGS,
)

def _plain_file_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = ctx.files.src[0], is_executable = True)
    return [DefaultInfo(
        executable = output,
        files = depset([output]),
        runfiles = ctx.runfiles([output]),
    )]

_plain_file = rule(
    implementation = _plain_file_impl,
    attrs = {
        "src": attr.label(mandatory = True, cfg = _plain_transition),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)

def slipway_bare_binary(name, **kwargs):
    """A static file that brings its own `_start` and system calls.

    Args:
      name: the target.
      **kwargs: passed to cc_binary.
    """
    native.cc_binary(
        name = name + "_linked",
        copts = _COPTS,
        linkopts = [
            "-nostdlib",
            "-static",
            "-Wl,--gc-sections",
            "-Wl,--strip-all",
            "-Wno-unused-command-line-argument",
        ],
        visibility = ["//visibility:private"],
        **kwargs
    )
    _plain_file(
        name = name,
        src = ":%s_linked" % name,
        visibility = layer_visibility(native.package_name()) + ["//:tests"],
    )

def slipway_bare_program(name, **kwargs):
    """A shared object of kernels (core/kernel_abi/kernel_source.h), as any device runs it.

    Args:
      name: the target.
      **kwargs: passed to cc_binary.
    """
    native.cc_binary(
        name = name + "_linked.so",
        copts = _COPTS + [
            "-O2",
            # Products and sums in one instruction, as programs have them.
            "-ffp-contract=fast",
        ],
        linkopts = [
            "-nostdlib",
            "-Wl,--as-needed",
            "-Wl,--gc-sections",
            "-Wl,--strip-all",
            "-Wl,-z,defs",
            "-Wl,-Bsymbolic",
            "-Wno-unused-command-line-argument",
        ],
        linkshared = True,
        visibility = ["//visibility:private"],
        **kwargs
    )
    _plain_file(
        name = name,
        src = ":%s_linked.so" % name,
        visibility = layer_visibility(native.package_name()) + ["//:tests"],
    )
