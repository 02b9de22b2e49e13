"""The rules for Slipway's own C++ code: one set of warnings and features."""

load("//:embedded_data.bzl", "embedded_data_sources")
load("//:source_digest.bzl", "source_digest_sources")
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
        visibility = ["//:tests"],
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
      visibility: by default, tests, which start binaries.
      **kwargs: passed to cc_binary.
    """
    runtime = STATIC_CXX_RUNTIME if static_runtime else SHARED_CXX_RUNTIME
    native.cc_binary(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkopts = linkopts + runtime,
        visibility = visibility,
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
        ] + select({
            "//:thread_sanitizer": ["//tests/tsan:absl_happens_before"],
            "//conditions:default": [],
        }),
        **kwargs
    )

def slipway_embed_data(name, srcs, visibility = None, **kwargs):
    """Puts files into a binary: a cc_library with one function that lists them.

    For `name = "kernel_archives"` include "<package>/kernel_archives.h" and
    call slipway::KernelArchives(): the files in the order of their names, each
    as EmbeddedFile{name, contents}, where a name is without its folder.

    Args:
      name: the library; letters, digits and underscores.
      srcs: files, or targets that make files.
      visibility: by default, see slipway_cc_library.
      **kwargs: passed to cc_library.
    """
    common = {
        key: kwargs[key]
        for key in kwargs
        if key in ["tags", "testonly"]
    }
    embedded_data_sources(
        name = name + "_files",
        srcs = srcs,
        library = name,
        visibility = ["//visibility:private"],
        **common
    )
    for group in ["headers", "sources"]:
        native.filegroup(
            name = name + "_" + group,
            srcs = [name + "_files"],
            output_group = group,
            visibility = ["//visibility:private"],
            **common
        )
    slipway_cc_library(
        name = name,
        srcs = [name + "_sources"],
        hdrs = [name + "_headers"],
        visibility = visibility,
        deps = [
            "//core/base:embedded_file",
            "//third_party:absl",
        ],
        **kwargs
    )

def slipway_source_digest(name, deps = [], srcs = [], visibility = None, **kwargs):
    """One number for what libraries are built from: a cc_library with one function.

    For `name = "codegen_source_digest"` include "<package>/codegen_source_digest.h"
    and call slipway::CodegenSourceDigest(): the SHA-256 over names and contents
    of all sources and headers of `deps` and what they depend on, and of `srcs`.
    Equal files give equal digests, wherever and however they are built; system
    libraries are not part of it. `name`_listing is the file of what went in, a
    line "<SHA-256> <path in the workspace>" each.

    Args:
      name: the library; letters, digits and underscores.
      deps: libraries.
      srcs: further files.
      visibility: by default, see slipway_cc_library.
      **kwargs: passed to cc_library.
    """
    if visibility == None:
        visibility = layer_visibility(native.package_name())
    common = {
        key: kwargs[key]
        for key in kwargs
        if key in ["tags", "testonly"]
    }
    source_digest_sources(
        name = name + "_files",
        srcs = srcs,
        library = name,
        visibility = ["//visibility:private"],
        deps = deps,
        **common
    )
    for group in ["headers", "listing", "sources"]:
        native.filegroup(
            name = name + "_" + group,
            srcs = [name + "_files"],
            output_group = group,
            visibility = visibility,
            **common
        )
    slipway_cc_library(
        name = name,
        srcs = [name + "_sources"],
        hdrs = [name + "_headers"],
        visibility = visibility,
        deps = ["//third_party:absl"],
        **kwargs
    )

def slipway_fuzz_test(
        name,
        deps = [],
        corpus = [],
        mutations = 2000,
        copts = [],
        features = [],
        size = "small",
        tags = [],
        **kwargs):
    """A fuzz target that is an ordinary test as well.

    Its sources define LLVMFuzzerTestOneInput. As a test (and under ASan and
    UBSan in .ci/run) it takes every file of the corpus and then `mutations`
    changes of them, the same ones each time. Under --config=fuzz it is a
    libFuzzer binary:
        bazel run --config=fuzz //x:y_fuzz_test -- -max_total_time=60 $PWD/x/y_corpus

    Args:
      name: the target.
      deps: what is fuzzed.
      corpus: files to begin with; the empty input comes by itself.
      mutations: how many changed inputs the test tries.
      copts: further compiler flags.
      features: further toolchain features.
      size: see cc_test.
      tags: further tags; `sanitize` comes by itself.
      **kwargs: passed to cc_test.
    """
    native.cc_test(
        name = name,
        # Given files, libFuzzer would only run those: it gets a folder by hand.
        args = select({
            "//:fuzzing": [],
            "//conditions:default": ["--mutations=%d" % mutations] +
                                    ["$(locations %s)" % file for file in corpus],
        }),
        copts = _COPTS + copts,
        data = corpus,
        features = _FEATURES + features,
        linkopts = SHARED_CXX_RUNTIME + select({
            "//:fuzzing": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        linkstatic = True,
        size = size,
        tags = tags + ["sanitize"],
        deps = deps + select({
            "//:fuzzing": [],
            "//conditions:default": ["//tests/fuzz:replay_main"],
        }),
        **kwargs
    )
