"""The rule behind slipway_source_digest of slipway.bzl."""

_Sources = provider(
    doc = "The files that a library and everything it depends on are built from.",
    fields = {"transitive": "depset of File"},
)

_FILES = ["srcs", "hdrs", "textual_hdrs"]

def _collect_impl(_target, ctx):
    direct = []
    for attribute in _FILES:
        direct.extend(getattr(ctx.rule.files, attribute, []))
    return [_Sources(transitive = depset(direct, transitive = [
        dep[_Sources].transitive
        for dep in getattr(ctx.rule.attr, "deps", [])
        if _Sources in dep
    ]))]

_collect = aspect(
    implementation = _collect_impl,
    attr_aspects = ["deps"],
)

_HEADER = """// Made by slipway_source_digest.
#ifndef {guard}
#define {guard}

#include "absl/strings/string_view.h"

namespace slipway {{

// 64 hexadecimal digits.
absl::string_view {function}();

}}  // namespace slipway

#endif  // {guard}
"""

_SOURCE = """// Made by slipway_source_digest.
#include "{header}"

namespace slipway {{

absl::string_view {function}() {{
  return "@DIGEST@";
}}

}}  // namespace slipway
"""

# Arguments: paths, names in the same order, the template; the listing, the
# source. A name is a path within the workspace, wherever the file is now.
_DIGEST = """
set -euo pipefail
export LC_ALL=C
xargs -d '\\n' sha256sum < "$1" | cut -c1-64 | paste -d ' ' - "$2" > "$4"
digest="$(sha256sum < "$4" | cut -c1-64)"
sed "s/@DIGEST@/$digest/" "$3" > "$5"
"""

def _identifier(text):
    return "".join([c if c.isalnum() else "_" for c in text.elems()])

def _source_digest_impl(ctx):
    name = ctx.attr.library
    files = depset(ctx.files.srcs, transitive = [
        dep[_Sources].transitive
        for dep in ctx.attr.deps
    ])
    path_of = {file.short_path: file for file in files.to_list()}
    names = sorted(path_of.keys())

    path_list = ctx.actions.declare_file(name + ".paths")
    ctx.actions.write(path_list, "".join([path_of[n].path + "\n" for n in names]))
    name_list = ctx.actions.declare_file(name + ".names")
    ctx.actions.write(name_list, "".join([n + "\n" for n in names]))

    base = ctx.label.package + "/" + name
    function = "".join([
        word[0].upper() + word[1:]
        for word in name.split("_")
    ])
    header = ctx.actions.declare_file(name + ".h")
    ctx.actions.write(header, _HEADER.format(
        function = function,
        guard = "SLIPWAY_" + _identifier(base).upper() + "_H_",
    ))
    template = ctx.actions.declare_file(name + ".cc.in")
    ctx.actions.write(template, _SOURCE.format(
        function = function,
        header = base + ".h",
    ))
    listing = ctx.actions.declare_file(name + ".sha256")
    source = ctx.actions.declare_file(name + ".cc")
    ctx.actions.run_shell(
        command = _DIGEST,
        arguments = [
            file.path
            for file in [path_list, name_list, template, listing, source]
        ],
        inputs = depset([path_list, name_list, template], transitive = [files]),
        outputs = [listing, source],
        mnemonic = "SourceDigest",
        progress_message = "Digesting the sources of %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([header, source])),
        OutputGroupInfo(
            headers = depset([header]),
            listing = depset([listing]),
            sources = depset([source]),
        ),
    ]

source_digest_sources = rule(
    doc = "Makes LIBRARY.h, LIBRARY.cc and LIBRARY.sha256.",
    implementation = _source_digest_impl,
    attrs = {
        "deps": attr.label_list(aspects = [_collect]),
        "library": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = True),
    },
)
