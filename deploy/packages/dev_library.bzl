"""The rule behind libslipway-dev: libraries as a project outside of this one uses them."""

# Arguments: the archive to make, a file with a line for each archive in it.
# Members of one name in several archives stay several members.
_MERGE = """
set -euo pipefail
script="$(mktemp)"
trap 'rm -f "$script"' EXIT
{ echo "create $1"; sed 's/^/addlib /' "$2"; echo save; echo end; } > "$script"
ar -M < "$script"
# Times and owners of members say nothing, and make each build another.
objcopy --enable-deterministic-archives "$1"
ranlib -D "$1"
"""

def _dev_library_impl(ctx):
    merged = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    )
    archives = []
    flags = []
    for linker_input in merged.linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archives.append(library.pic_static_library or library.static_library)
        flags += [f for f in linker_input.user_link_flags if f not in flags]
    list_file = ctx.actions.declare_file(ctx.label.name + ".archives")
    ctx.actions.write(list_file, "".join([a.path + "\n" for a in archives]))
    archive = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    ctx.actions.run_shell(
        inputs = archives + [list_file],
        outputs = [archive],
        command = _MERGE,
        arguments = [archive.path, list_file.path],
        mnemonic = "SlipwayDevLibrary",
    )

    # Everything that may be included, by the name by which it is: the package takes what its own headers include.
    headers = [
        h
        for h in merged.compilation_context.headers.to_list()
        if h.extension == "h"
    ]
    manifest = ctx.actions.declare_file(ctx.label.name + ".headers")
    ctx.actions.write(manifest, "".join([
        "%s %s\n" % (h.short_path, h.path)
        for h in headers
    ]))
    link_flags = ctx.actions.declare_file(ctx.label.name + ".link_flags")
    ctx.actions.write(link_flags, "".join([f + "\n" for f in flags]))
    tar = ctx.actions.declare_file(ctx.label.name + "_headers.tar")
    ctx.actions.run_shell(
        inputs = headers + [manifest],
        outputs = [tar],
        command = """
            set -euo pipefail
            tree="$(mktemp -d)"
            trap 'rm -rf "$tree"' EXIT
            while read -r name file; do
              mkdir -p "$tree/$(dirname "$name")"
              cp "$file" "$tree/$name"
            done < "$1"
            tar -C "$tree" -cf "$2" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner .
        """,
        arguments = [manifest.path, tar.path],
        mnemonic = "SlipwayDevHeaders",
    )
    files = [archive, link_flags, tar]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

dev_library = rule(
    doc = """lib`name`.a, all code; `name`_headers.tar, all headers; `name`.link_flags, what to link besides.""",
    implementation = _dev_library_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
    },
)
