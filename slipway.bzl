"""The rules for Slipway's own C++ code: one set of warnings and features."""

load("//tests/layering:layers.bzl", "layer_visibility")
load("//third_party:runtime.bzl", "SHARED_CXX_RUNTIME", "STATIC_CXX_RUNTIME")

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wthread-safety",
]

# An include must come from a direct dependency; clang checks it.
_FEATURES = ["layering_check"]

def slipway_cc_library(
        name,
        copts = [],
        features = [],
        visibility = None,
        **kwargs):
    """A cc_library with Slipway's warnings and layering_check.

    Args:
      name: the target.
      copts: further compiler flags.
      features: further toolchain features.
      visibility: by default, whoever tests/layering/layers.bzl lets see it.
      **kwargs: passed to cc_library.
    """
    if visibility == None:
        visibility = layer_visibility(native.package_name())
    native.cc_library(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        # No shared library beside the archive: nobody would link it.
        linkstatic = True,
        visibility = visibility,
        **kwargs
    )

def slipway_cc_binary(
        name,
        static_runtime = False,
        copts = [],
        features = [],
        linkopts = [],
        **kwargs):
    """A cc_binary with Slipway's warnings and layering_check.

    Args:
      name: the target.
      static_runtime: link libstdc++ and libgcc into the file, so that it needs
        nothing but glibc. Not for binaries that link libHalide.so, which
        brings the shared libstdc++ along.
      copts: further compiler flags.
      features: further toolchain features.
      linkopts: further linker flags.
      **kwargs: passed to cc_binary.
    """
    runtime = STATIC_CXX_RUNTIME if static_runtime else SHARED_CXX_RUNTIME
    native.cc_binary(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkopts = linkopts + runtime,
        **kwargs
    )

def slipway_cc_test(
        name,
        deps = [],
        with_main = True,
        copts = [],
        features = [],
        linkopts = [],
        size = "small",
        **kwargs):
    """A cc_test over GoogleTest and GoogleMock.

    Args:
      name: the target.
      deps: what the test uses; GoogleTest and GoogleMock come by themselves.
      with_main: whether GoogleMock's main() is linked.
      copts: further compiler flags.
      features: further toolchain features.
      linkopts: further linker flags.
      size: see cc_test; "small" means at most a minute.
      **kwargs: passed to cc_test.
    """
    native.cc_test(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkopts = linkopts + SHARED_CXX_RUNTIME,
        linkstatic = True,
        size = size,
        deps = deps + [
            "//third_party:gtest_main" if with_main else "//third_party:gtest",
        ],
        **kwargs
    )
