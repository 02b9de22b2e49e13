"""The sources behind slipway_embed_data of slipway.bzl, from file names alone."""

load("//third_party/cross:sysroots.bzl", "ARCHITECTURES")

_HEADER = """// Made by slipway_embed_data.
#ifndef {guard}
#define {guard}

#include "absl/types/span.h"
#include "core/base/embedded_file.h"

namespace slipway {{

absl::Span<const EmbeddedFile> {function}();

}}  // namespace slipway

#endif  // {guard}
"""

_SOURCE = """// Made by slipway_embed_data.
#include "{header}"

#include "absl/strings/string_view.h"

extern "C" {{
{declarations}
}}

namespace slipway {{

absl::Span<const EmbeddedFile> {function}() {{
  static const EmbeddedFile kFiles[] = {{
{rows}
  }};
  return kFiles;
}}

}}  // namespace slipway
"""

_DECLARATION = """extern const char {symbol}[];
extern const char {symbol}_end[];"""

_ROW = """      {{"{name}", absl::string_view({symbol}, {symbol}_end - {symbol})}},"""

_DATA = """    .section .rodata
    .hidden {symbol}
    .global {symbol}
    .balign 64
{symbol}:
    .incbin "{path}"
    .hidden {symbol}_end
    .global {symbol}_end
{symbol}_end:
    .byte 0
"""

_NO_EXECUTABLE_STACK = """    .section .note.GNU-stack, "", %progbits
"""

def _identifier(text):
    return "".join([c if c.isalnum() else "_" for c in text.elems()])

def _embedded_data_impl(ctx):
    name = ctx.attr.library
    base = ctx.label.package + "/" + name
    files = sorted([(file.basename, file.path) for file in ctx.files.srcs])
    rows = [
        {
            "name": basename,
            "path": path,
            "symbol": "slipway_embedded_%s_%d" % (_identifier(base), index),
        }
        for index, (basename, path) in enumerate(files)
    ]
    function = "".join([
        word[0].upper() + word[1:]
        for word in name.split("_")
    ])
    header = ctx.actions.declare_file(name + ".h")
    ctx.actions.write(header, _HEADER.format(
        function = function,
        guard = "SLIPWAY_" + _identifier(base).upper() + "_H_",
    ))
    source = ctx.actions.declare_file(name + ".cc")
    ctx.actions.write(source, _SOURCE.format(
        declarations = "\n".join([_DECLARATION.format(**row) for row in rows]),
        function = function,
        header = base + ".h",
        rows = "\n".join([_ROW.format(**row) for row in rows]),
    ))
    assembly = ctx.actions.declare_file(name + "_data.S")
    ctx.actions.write(assembly, "".join(
        [_DATA.format(**row) for row in rows] + [_NO_EXECUTABLE_STACK],
    ))

    # Not left to cc_library, which would not see that the assembler reads the
    # files, and would keep the old object when they change.
    object = ctx.actions.declare_file(name + "_data.o")
    board = ARCHITECTURES.get(ctx.var["TARGET_CPU"])
    ctx.actions.run(
        executable = "/usr/bin/clang-14",
        arguments = (["--target=" + board.triple] if board else []) +
                    ["-c", assembly.path, "-o", object.path],
        inputs = [assembly] + ctx.files.srcs,
        outputs = [object],
        mnemonic = "EmbedData",
        progress_message = "Embedding %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([header, source, object])),
        OutputGroupInfo(
            headers = depset([header]),
            sources = depset([source, object]),
        ),
    ]

embedded_data_sources = rule(
    doc = "Makes LIBRARY.h, LIBRARY.cc and LIBRARY_data.o.",
    implementation = _embedded_data_impl,
    attrs = {
        "library": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
    },
)
