"""slipway_proto_library: C++ for protocol buffers, with Debian's protoc."""

load("//tests/layering:layers.bzl", "layer_visibility")
load("//third_party/cross:cross.bzl", "CROSS_COPTS")

_ProtoSources = provider(
    doc = "The .proto files of a target and of everything that it imports.",
    fields = {"transitive": "depset of File"},
)

def _generate_impl(ctx):
    transitive = depset(
        ctx.files.srcs,
        transitive = [dep[_ProtoSources].transitive for dep in ctx.attr.deps],
    )
    extensions = [".grpc.pb"] if ctx.attr.grpc else [".pb"]
    headers = []
    sources = []
    for src in ctx.files.srcs:
        stem = src.basename[:-len(".proto")]
        for extension in extensions:
            headers.append(ctx.actions.declare_file(stem + extension + ".h"))
            sources.append(ctx.actions.declare_file(stem + extension + ".cc"))

    arguments = ctx.actions.args()

    # Import paths start at the workspace; google/protobuf/*.proto at /usr.
    arguments.add("-I.")
    arguments.add("-I/usr/include")
    if ctx.attr.grpc:
        arguments.add("--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin")
        arguments.add("--grpc_out=" + ctx.bin_dir.path)
    else:
        arguments.add("--cpp_out=" + ctx.bin_dir.path)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = "/usr/bin/protoc",
        arguments = [arguments],
        inputs = transitive,
        outputs = headers + sources,
        mnemonic = "Protoc",
        progress_message = "Generating C++ for %{label}",
    )
    return [
        DefaultInfo(files = depset(headers + sources)),
        OutputGroupInfo(
            headers = depset(headers),
            sources = depset(sources),
        ),
        _ProtoSources(transitive = transitive),
    ]

_generate = rule(
    implementation = _generate_impl,
    attrs = {
        "deps": attr.label_list(providers = [_ProtoSources]),
        "grpc": attr.bool(),
        "srcs": attr.label_list(allow_files = [".proto"]),
    },
)

def _cc_library(name, generated, deps, visibility, testonly):
    native.filegroup(
        name = generated + "_headers",
        srcs = [generated],
        output_group = "headers",
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.filegroup(
        name = generated + "_sources",
        srcs = [generated],
        output_group = "sources",
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        testonly = testonly,
        srcs = [generated + "_sources"],
        hdrs = [generated + "_headers"],
        copts = ["-w"] + CROSS_COPTS,
        features = ["layering_check"],
        linkstatic = True,
        visibility = visibility,
        deps = deps,
    )

def slipway_proto_library(
        name,
        srcs,
        deps = [],
        grpc = False,
        visibility = None,
        testonly = False):
    """Messages as cc_library `name`; services as a second one, `name`_grpc.

    Two libraries, so that gRPC's headers reach only those who ask for them.

    Args:
      name: the cc_library; include "path/to/file.pb.h".
      srcs: .proto files, which import each other from the workspace root.
      deps: slipway_proto_library targets that srcs import.
      grpc: whether to make `name`_grpc; include "path/to/file.grpc.pb.h".
      visibility: of both libraries; by default, see slipway_cc_library.
      testonly: of both libraries.
    """
    if visibility == None:
        visibility = layer_visibility(native.package_name())
    generated_deps = [_generated(dep) for dep in deps]
    _generate(
        name = name + "_pb",
        srcs = srcs,
        testonly = testonly,
        visibility = visibility,
        deps = generated_deps,
    )
    _cc_library(
        name,
        name + "_pb",
        deps + ["//third_party:protobuf"],
        visibility,
        testonly,
    )
    if grpc:
        _generate(
            name = name + "_grpc_pb",
            srcs = srcs,
            grpc = True,
            testonly = testonly,
            visibility = visibility,
            deps = generated_deps,
        )

        # deps too: gRPC's code names the request types of imported files.
        _cc_library(
            name + "_grpc",
            name + "_grpc_pb",
            [":" + name] + deps + ["//third_party:grpc"],
            visibility,
            testonly,
        )

def _generated(dep):
    """The label of the target that runs protoc for the library `dep`."""
    if ":" in dep:
        return dep + "_pb"
    return dep + ":" + dep.split("/")[-1] + "_pb"
