"""slipway_cross_files: files that are built for another architecture than this one."""

load("//third_party/cross:sysroots.bzl", "ARCHITECTURES")

def _architecture_transition_impl(settings, attr):
    return {
        "//command_line_option:compiler": "clang-cross",
        "//command_line_option:cpu": attr.architecture,
        "//command_line_option:crosstool_top": "@cross_sysroots//:suite",
    }

_architecture_transition = transition(
    implementation = _architecture_transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compiler",
        "//command_line_option:cpu",
        "//command_line_option:crosstool_top",
    ],
)

def _cross_file_impl(ctx):
    file = ctx.files.src[0]
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = output, target_file = file, is_executable = True)
    return [DefaultInfo(
        executable = output,
        files = depset([output]),
        runfiles = ctx.runfiles([output]),
    )]

_cross_file = rule(
    implementation = _cross_file_impl,
    attrs = {
        "architecture": attr.string(mandatory = True, values = ARCHITECTURES.keys()),
        "src": attr.label(mandatory = True, cfg = _architecture_transition),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)

# For code that is large and seldom run: small where it is for a board.
CROSS_COPTS = select({
    "//third_party/cross:is_cross": ["-Oz"],
    "//conditions:default": [],
})

def slipway_cross_files(src, architectures, **kwargs):
    """Builds `src`, a binary of this package, for other architectures, as `src`.ARCHITECTURE.

    `deploy/sysroot ARCHITECTURE` must have been run. All are
    built by name alone ("manual"), and by what depends on them.

    Args:
      src: a binary's name.
      architectures: of ARCHITECTURES in sysroots.bzl.
      **kwargs: passed to the targets.
    """
    for architecture in architectures:
        _cross_file(
            name = "%s.%s" % (src, architecture),
            src = ":" + src,
            architecture = architecture,
            tags = ["manual"],
            **kwargs
        )
