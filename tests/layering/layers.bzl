"""Who may depend on what: the tables of DESIGN.md as data.

A folder may see itself, the folders of its row, all that those may see, and
their libraries. What the table does not allow is forbidden, transitively. Two
things follow from it: the visibility of every target of slipway.bzl (a
forbidden direct dependency does not build), and //tests/layering, which checks
the dependencies of whole binaries.
"""

def _row(
        sees = [],
        libraries = [],
        own_libraries = [],
        hidden_libraries = []):
    """A row of the table.

    Args:
      sees: folders; `//x/y` and below, except what has a row of its own.
      libraries: targets of //third_party, also for those who see this folder.
      own_libraries: targets of //third_party for this folder alone.
      hidden_libraries: as own_libraries, but part of its implementation: who
        sees this folder links them unknowingly.

    Returns:
      the row.
    """
    return struct(
        sees = sees,
        libraries = libraries,
        own_libraries = own_libraries,
        hidden_libraries = hidden_libraries,
    )

# A folder below one that has a row may see its parent, which is the interface
# that it implements, but not what its parent may see (its siblings).
LAYERS = {
    "proto": _row(
        libraries = ["protobuf"],
        own_libraries = ["grpc"],
    ),

    # The core.
    "core/base": _row(
        libraries = [
            "absl",
            "openssl_crypto",
        ],
        hidden_libraries = ["spdlog"],
    ),
    # What a process that works for strangers may still do.
    "core/confinement": _row(sees = ["core/base"]),
    # Who somebody is towards a server, and what he may do.
    "core/identity": _row(sees = ["core/base"]),
    # What both ends of every gRPC connection agree on, and what its callers share.
    "core/rpc": _row(
        sees = [
            "core/identity",
            "core/store",
            "core/wire",
        ],
        libraries = ["grpc"],
        hidden_libraries = ["openssl_ssl"],
    ),
    # Which devices are meant, by what they are.
    "core/selector": _row(sees = ["core/base"]),
    # HTTP as values, and the one listener that serves it.
    "core/http": _row(
        sees = ["core/rpc"],
        hidden_libraries = [
            "boost",
            "openssl_ssl",
        ],
    ),
    # Numbers of a process for who watches it.
    "core/metrics": _row(sees = ["core/http"]),
    # What samples of a device say, to whoever takes them and whoever shows them.
    "core/statistics": _row(sees = ["core/base"]),
    "core/symbolic": _row(sees = ["core/base"]),
    "core/target": _row(sees = ["core/base"]),
    "core/tensor": _row(
        sees = ["core/base"],
        hidden_libraries = ["zlib"],
    ),
    # Values of the core to and from protocol buffers.
    "core/wire": _row(sees = [
        "core/selector",
        "core/target",
        "core/tensor",
        "proto",
    ]),
    "core/kernel_abi": _row(sees = ["core/tensor"]),
    # What runs programs for a host on a device where nothing is installed, in C, without a library.
    "core/bare_runner": _row(sees = ["core/kernel_abi"]),
    "core/kernels": _row(sees = ["core/kernel_abi"]),
    "core/schedules": _row(sees = ["core/base"]),
    "core/graph": _row(sees = [
        "core/symbolic",
        "core/target",
        "core/tensor",
    ]),
    # Graphs to and from protocol buffers; the rest of core/wire knows no graph.
    "core/wire/graph": _row(sees = [
        "core/graph",
        "core/wire",
        "proto",
    ]),
    "core/operators": _row(sees = ["core/graph"]),
    "core/reference": _row(
        sees = [
            "core/kernels",
            "core/operators",
        ],
        hidden_libraries = ["re2"],
    ),
    "core/importers": _row(sees = [
        "core/importers/nnvm_json",
        "core/importers/onnx",
        "core/operators",
    ]),
    "core/importers/nnvm_json": _row(sees = [
        "core/importers",
        "core/operators",
    ]),
    "core/importers/onnx": _row(
        sees = [
            "core/importers",
            "core/operators",
        ],
        libraries = [
            "onnx_proto",
            "protobuf",
        ],
    ),
    "core/exporters": _row(sees = ["core/operators"]),
    "core/exporters/nnvm_json": _row(sees = [
        "core/exporters",
        "core/operators",
    ]),
    "core/exporters/onnx": _row(
        sees = [
            "core/exporters",
            "core/operators",
        ],
        libraries = [
            "onnx_proto",
            "protobuf",
        ],
    ),
    "core/passes": _row(sees = ["core/reference"]),
    "core/codegen": _row(
        sees = [
            "core/kernel_abi",
            "core/kernels",
            "core/operators",
            "core/schedules",
        ],
        libraries = ["halide"],
        hidden_libraries = ["llvm"],
    ),
    "core/backends": _row(sees = [
        "core/artifact",
        "core/backends/cpu",
        "core/backends/null",
        "core/backends/gpu",
        "core/codegen",
        "core/passes",
        "core/schedules",
    ]),
    # What all backends write in the same way.
    "core/backends/program": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/passes",
        "core/schedules",
    ]),
    # The host's part of a program, for all backends with a CPU as host.
    "core/backends/host_code": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/backends/program",
        "core/codegen",
        "core/passes",
    ]),
    "core/backends/gpu": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/backends/host_code",
        "core/backends/program",
        "core/codegen",
        "core/passes",
    ]),
    "core/backends/cpu": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/backends/host_code",
        "core/backends/program",
        "core/codegen",
        "core/passes",
    ]),
    "core/backends/null": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/backends/program",
        "core/codegen",
        "core/passes",
    ]),
    "core/compiler": _row(sees = [
        "core/artifact",
        "core/backends",
        "core/importers",
        "core/passes",
        "core/store",
        "core/wire/graph",
    ]),
    "core/artifact": _row(sees = [
        "core/kernel_abi",
        "core/symbolic",
        "core/target",
        "core/wire",
    ]),
    "core/store": _row(sees = ["core/base"]),
    "core/runtime": _row(sees = [
        "core/artifact",
        "core/bare_runner",
        "core/store",
    ]),

    # A program for people: graphs in every form, through passes by name.
    "core/graph_opt": _row(sees = [
        "core/backends",
        "core/exporters",
        "core/exporters/onnx",
        "core/importers",
        "core/wire/graph",
    ]),

    # The binaries: slipwayd, slipway-compile-worker, slipway-agent, slipway.
    "server": _row(
        sees = [
            "core/artifact",
            "core/confinement",
            "core/metrics",
            "core/rpc",
            "core/store",
            "server/audit",
        ],
        own_libraries = [
            "grpc",
            "sqlite3",
        ],
    ),
    # The page: a client of slipwayd, in a process of its own. Beside what the client library links it serves HTTP, guards
    # the tokens that it holds, and reads graphs to draw them.
    "server/web": _row(
        sees = [
            "client",
            "core/confinement",
            "core/graph",
            "core/http",
        ],
        own_libraries = ["grpc"],
    ),
    # What is written down of calls, which knows none of them.
    "server/audit": _row(sees = ["core/base"]),
    "server/compile_worker": _row(
        sees = [
            "core/compiler",
            "core/confinement",
            "core/rpc",
        ],
        own_libraries = ["grpc"],
    ),
    "device_agent": _row(
        sees = [
            "core/confinement",
            "core/metrics",
            "core/rpc",
            "core/runtime",
            "core/statistics",
        ],
        own_libraries = ["grpc"],
    ),
    "client": _row(
        sees = [
            "client/terminal",
            "core/artifact",
            "core/rpc",
            "core/schedules",
            "core/statistics",
            "core/store",
        ],
        own_libraries = ["grpc"],
    ),
    # The line editor, which //client:slipway alone may link; //tests/layering:line_editor_test holds libraries to it.
    "client/terminal": _row(
        sees = [
            "client",
            "core/base",
        ],
        hidden_libraries = ["libedit"],
    ),
    # What a program that compiles with operators of its own may see; the client library may not.
    "client/examples/own_operator": _row(sees = [
        "core/compiler",
        "core/runtime",
    ]),
}

# The libraries that rows may name; others in //third_party are for tests.
LIBRARIES = [
    "absl",
    "boost",
    "grpc",
    "halide",
    "libedit",
    "llvm",
    "onnx_proto",
    "openssl_crypto",
    "protobuf",
    "re2",
    "openssl_ssl",
    "spdlog",
    "sqlite3",
    "zlib",
]

def closure(folder):
    """Returns what `folder` may see.

    Args:
      folder: a key of LAYERS.

    Returns:
      struct(folders, libraries, linked): linked are the libraries that may be
      there in the end, among them the hidden ones of others.
    """
    row = LAYERS[folder]
    folders = {}
    libraries = {
        name: None
        for name in row.libraries + row.own_libraries + row.hidden_libraries
    }
    hidden = {}
    pending = list(row.sees)

    # Starlark has no while loop; each turn takes one row, and a row is queued
    # at most once for each row that names it.
    for _ in range(len(LAYERS) * len(LAYERS)):
        if not pending:
            break
        seen = pending.pop()
        if seen in folders or seen == folder:
            continue
        folders[seen] = None
        for name in LAYERS[seen].libraries:
            libraries[name] = None
        for name in LAYERS[seen].hidden_libraries:
            hidden[name] = None
        if not folder.startswith(seen + "/"):
            pending.extend(LAYERS[seen].sees)
    linked = dict(libraries)
    linked.update(hidden)
    return struct(
        folders = sorted(folders),
        libraries = sorted(libraries),
        linked = sorted(linked),
    )

def layer_of(package):
    """Returns the folder whose row holds for `package`, or None."""
    parts = package.split("/")
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in LAYERS:
            return folder
    return None

def _group(kind, name):
    return "users_of_%s_%s" % (kind, name.replace("/", "_"))

def _packages_group(folder):
    return "packages_of_" + folder.replace("/", "_")

def layer_visibility(package):
    """Returns the visibility of the targets in `package`; None for its own."""
    folder = layer_of(package)
    return ["//:" + _group("layer", folder)] if folder else None

def library_visibility(name):
    """Returns the visibility of the target `name` of //third_party."""
    return ["//:" + _group("library", name)]

def _packages(folder):
    """Package specifications for `folder`, without folders of other rows."""
    below = [name for name in LAYERS if name.startswith(folder + "/")]
    return ["//%s/..." % folder] + ["-//%s/..." % name for name in below]

def layer_package_groups():
    """Defines the package groups behind both visibilities, for //:BUILD."""
    for folder in LAYERS:
        native.package_group(
            name = _packages_group(folder),
            packages = _packages(folder),
        )
    # What tries the product, and what packs it: no part of it.
    native.package_group(
        name = "tests",
        packages = [
            "//deploy/...",
            "//tests/...",
        ],
    )
    native.package_group(
        name = "third_party",
        packages = ["//third_party/..."],
    )
    closures = {folder: closure(folder) for folder in LAYERS}
    for seen in LAYERS:
        native.package_group(
            name = _group("layer", seen),
            includes = [":tests"] + [
                ":" + _packages_group(folder)
                for folder in LAYERS
                if folder == seen or seen in closures[folder].folders
            ],
        )
    for library in LIBRARIES:
        native.package_group(
            name = _group("library", library),
            includes = [
                ":tests",
                ":third_party",
            ] + [
                ":" + _packages_group(folder)
                for folder in LAYERS
                if library in closures[folder].libraries
            ],
        )
