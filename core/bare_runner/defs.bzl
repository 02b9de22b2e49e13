"""slipway_bare_binary: a program in C without a C library."""

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
    "//third_party/cross:is_cross": ["-mno-outline-atomics"],
    "//conditions:default": [],
})

def slipway_bare_binary(name, **kwargs):
    """A static file that brings its own `_start` and system calls.

    Under a sanitizer it does not link: tests that start it have no such tag.

    Args:
      name: the target.
      **kwargs: passed to cc_binary.
    """
    native.cc_binary(
        name = name,
        copts = _COPTS,
        linkopts = [
            "-nostdlib",
            "-static",
            "-Wl,--gc-sections",
            "-Wno-unused-command-line-argument",
        ],
        visibility = layer_visibility(native.package_name()) + ["//:tests"],
        **kwargs
    )
